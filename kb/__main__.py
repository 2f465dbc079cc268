"""`python -m kb` is the command `kb`."""

import sys

from kb.surfaces.start import main

sys.exit(main())
