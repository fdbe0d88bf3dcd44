"""What an episode was worth: fair values, hindsight, forecasts, metrics."""
