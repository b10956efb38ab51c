"""`python -m bough`: the command line."""

from bough.cli import main

raise SystemExit(main())
