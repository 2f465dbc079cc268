"""The Model Context Protocol: tools made from the operations, over stdio and over HTTP, in both eras of the protocol."""
