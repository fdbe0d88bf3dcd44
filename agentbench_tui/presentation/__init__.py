"""What a verdict looks like, whatever shows it: numbers, sentences, tables and charts."""
