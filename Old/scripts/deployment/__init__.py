"""What scripts/check-deployment.py checks, one module for each kind of file."""
