"""Read the CSV output of Nsight Compute."""
