"""`python -m kb` is the command `kb`."""

from kb.surfaces.start import console

console()
