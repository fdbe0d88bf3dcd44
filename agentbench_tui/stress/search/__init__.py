"""Breaking points and scaling: searches over load levels."""
