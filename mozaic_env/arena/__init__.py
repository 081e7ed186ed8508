"""Who is stronger, and how sure is that: matches, intervals, ratings, reports."""
