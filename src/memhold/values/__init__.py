"""What is stored and answered: frozen values, their errors, and their form as JSON. It imports nothing of the rest."""
