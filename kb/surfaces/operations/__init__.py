"""What can be asked of a base, written down once: MCP tools, HTTP routes and their schemas are all made from it."""
