"""Workplaces for language-model agents, served over MCP."""

from wa_mcp.admin_server import admin_server
from wa_mcp.agent_server import agent_server
from wa_mcp.app import http_app
from wa_mcp.controller import Controller
from wa_mcp.endpoints import Endpoint
from wa_mcp.runtime import Runtime
from wa_mcp.scoring import Score, score
from wa_mcp.settings import Settings

__all__ = [
    "Controller",
    "Endpoint",
    "Runtime",
    "Score",
    "Settings",
    "admin_server",
    "agent_server",
    "http_app",
    "score",
]
