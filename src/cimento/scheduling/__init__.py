"""Many suites and many models: the work cut into units, and the engines that do them."""
