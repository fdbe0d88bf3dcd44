"""`run --report`: the files of StateSet's benchmark runner, by the names of the original."""
