"""What every game shares, and no game is named in: bit boards, streams, the Game contract, loops over rows."""
