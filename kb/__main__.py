"""`python -m kb` is the command `kb`."""

import sys

from kb.surfaces.cli import main

sys.exit(main())
