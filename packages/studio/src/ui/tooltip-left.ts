interface Edges {
  readonly left: number
  readonly right: number
}

/** Where a box of this width begins: below the middle of the part of its anchor that can be seen, and inside the window. */
export function tooltipLeft(anchor: Edges, visible: Edges, width: number, windowWidth: number): number {
  const from = Math.max(anchor.left, Math.min(visible.left, anchor.right))
  const to = Math.min(anchor.right, Math.max(visible.right, anchor.left))
  return Math.max(8, Math.min((from + to) / 2 - width / 2, windowWidth - width - 8))
}
