"""Methods of *Revisiting Uncertainty Estimation for Node Classification*."""
