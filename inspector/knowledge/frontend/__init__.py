"""What is known of Dynamo's guards and of torch's own timers. Data with sources; may not know any compile."""
