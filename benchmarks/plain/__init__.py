"""The toolkits of the baseline: a frame of its own for every session, worked as most people work a frame."""
