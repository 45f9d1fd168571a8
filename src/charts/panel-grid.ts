/** Where one panel stands, and which of its axes carry labels. */
export interface PanelPlace {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  /** The first of its row: has the labels of the upward axis. */
  readonly isFirst: boolean;
  /** With no panel below: has the labels of the axis across. */
  readonly isLowest: boolean;
}

/** Square panels in rows, and the picture that holds them. */
interface PanelGrid {
  readonly width: number;
  readonly height: number;
  /** Of each panel, in pixels. */
  readonly side: number;
  readonly grids: readonly PanelPlace[];
}

/** The sides of panels by how many stand in a row. */
const SIDES = [440, 330, 250, 200] as const;

const LEFT = 72;
const RIGHT = 32;
const BETWEEN_COLUMNS = 30;
/** Room for a panel's two lines of words, or for the axis of a panel with none below. */
const BETWEEN_ROWS = 56;
const PANEL_TITLE = 44;
const BOTTOM = 92;

/**
 * Places panels in rows of one to four.
 * @param count panels; none makes an empty picture
 * @param top pixels above them, for words
 */
export function placePanels(count: number, top: number): PanelGrid {
  const columns = columnsFor(count);
  const side = SIDES[columns - 1] as number;
  const rows = Math.ceil(count / columns);
  const grids = Array.from({ length: count }, (_, place): PanelPlace => {
    const column = place % columns;
    const row = Math.floor(place / columns);
    return {
      left: LEFT + column * (side + BETWEEN_COLUMNS),
      top: top + PANEL_TITLE + row * (side + BETWEEN_ROWS),
      width: side,
      isFirst: column === 0,
      isLowest: place + columns >= count,
    };
  });
  return {
    width: LEFT + columns * side + (columns - 1) * BETWEEN_COLUMNS + RIGHT,
    height: top + PANEL_TITLE + Math.max(1, rows) * side + Math.max(0, rows - 1) * BETWEEN_ROWS + BOTTOM,
    side,
    grids,
  };
}

function columnsFor(count: number): number {
  if (count <= 3) return Math.max(1, count);
  if (count === 4) return 2;
  return count <= 9 ? 3 : 4;
}
