"""Methods of *Evaluating Robustness and Uncertainty … Under Structural Distributional Shifts*."""
