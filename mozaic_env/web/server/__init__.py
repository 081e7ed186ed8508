"""The web server: application, sessions, checks of requests and messages."""
