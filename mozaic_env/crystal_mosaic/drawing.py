"""Pictures of Crystal Mosaic."""
def draw_text(row): return "x"
def draw(row, before, action, caption): raise NotImplementedError
