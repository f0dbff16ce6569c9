"""Read the profiles of MindSpore 1.8 to 2.2 on GPU and CPU."""
