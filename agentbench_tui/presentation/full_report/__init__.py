"""A whole report that people pass on: its parts, and what a run or a comparison fills them with."""
