"""The HTTP API: routes made from the operations, guarded, and the page beside them."""
