"""`python -m seqmix`: the program."""
from ._program import main

main()
