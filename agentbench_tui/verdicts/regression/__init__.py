"""Has an agent become worse? Its newest runs against a baseline or its history."""
