"""What each part of the screen shows, as plain values built from a dump. Knows neither widgets nor textual."""
