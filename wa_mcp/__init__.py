"""The workplace for agents over MCP."""
