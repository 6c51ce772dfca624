"""The toolkits that make up a workplace: named here, and nowhere else."""

from typing import Final

from toolkits.analytics import Analytics
from toolkits.calendar import Calendar
from toolkits.company_directory import CompanyDirectory
from toolkits.customer_relationship_manager import CustomerRelationshipManager
from toolkits.email import Email
from toolkits.project_management import ProjectManagement
from toolkits.workplace import Catalogue

__all__ = ["CATALOGUE"]

_TOOLKITS: Final = (
    CompanyDirectory,
    Email,
    Calendar,
    Analytics,
    ProjectManagement,
    CustomerRelationshipManager,
)

CATALOGUE: Final = Catalogue(_TOOLKITS)
