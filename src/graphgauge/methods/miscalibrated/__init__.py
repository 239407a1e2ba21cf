"""Methods of *miscalibrated*: Teixeira et al., Are Graph Neural Networks Miscalibrated?, 2019."""
