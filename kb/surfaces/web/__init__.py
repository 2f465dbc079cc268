"""The page: static files without a build step, and sections rendered as safe HTML for it."""
