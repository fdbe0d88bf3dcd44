"""Load executions: documents, requests, sweeps, spread."""
