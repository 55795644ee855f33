/**
 * What a designer would see as broken in the page that is shown: labels below 11 px, text that is cut without an ellipsis
 * and a title, text over other text, controls that something covers, and what sticks out of the window. It runs in the page.
 */
export function faults(): readonly string[] {
  const found = new Set<string>()
  const styles = new Map<Element, CSSStyleDeclaration>()
  const styleOf = (element: Element): CSSStyleDeclaration => {
    const known = styles.get(element) ?? getComputedStyle(element)
    styles.set(element, known)
    return known
  }
  const parents = function* (element: Element): Generator<Element> {
    for (let each = element.parentElement; each !== null; each = each.parentElement) yield each
  }
  const about = (element: Element): string =>
    `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} “${(element.textContent ?? '').trim().slice(0, 40)}”`
  /** What is in the top layer, or the drawer that covers the page on a narrow screen: only that is looked at. */
  const layers = [...document.querySelectorAll('dialog:modal')]
  const drawers = document.querySelector('.scrim')?.checkVisibility() === true
  const top =
    layers.at(-1) ?? (drawers ? document.querySelector('.inspector, .timeline-slot, .sidebar') : null) ?? document.body
  const skipped = '.visually-hidden, .skip-link:not(:focus), .lit-marks, [aria-hidden="true"] svg, option'
  const graph = document.querySelector('.react-flow__viewport')
  const zoom = graph === null ? 1 : new DOMMatrix(styleOf(graph).transform).a

  interface Text {
    readonly element: Element
    readonly lines: readonly DOMRect[]
    /** The part of the box that no scrolling ancestor hides. */
    readonly shown: { left: number; right: number; top: number; bottom: number }
  }
  const texts: Text[] = []
  for (const element of top.querySelectorAll('*')) {
    if (element.closest(skipped) !== null || element.closest('svg') !== null) continue
    const own = [...element.childNodes].filter((node) => node.nodeType === 3 && (node.textContent ?? '').trim() !== '')
    if (own.length === 0 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const lines = own.flatMap((node) => {
      const range = document.createRange()
      range.selectNodeContents(node)
      return [...range.getClientRects()].filter(({ width, height }) => width >= 1 && height >= 1)
    })
    if (lines.length === 0) continue
    const box = {
      left: Math.min(...lines.map(({ left }) => left)),
      right: Math.max(...lines.map(({ right }) => right)),
      top: Math.min(...lines.map((line) => line.top)),
      bottom: Math.max(...lines.map(({ bottom }) => bottom)),
    }
    const inGraph = graph?.contains(element) === true
    const size = Number.parseFloat(styleOf(element).fontSize) * (inGraph ? zoom : 1)
    if (size < 10.95) found.add(`${size.toFixed(1)} px: ${about(element)}`)
    const shown = { left: box.left, right: box.right, top: box.top, bottom: box.bottom }
    let scrollsX = false
    let scrollsY = false
    for (const outer of [element, ...parents(element)]) {
      if (outer === document.body || outer === document.documentElement) break
      const style = styleOf(outer)
      if (style.display === 'inline' || style.display === 'contents') continue
      const { left, right, top: over, bottom } = outer.getBoundingClientRect()
      const cuts = { x: style.overflowX !== 'visible', y: style.overflowY !== 'visible' }
      if (cuts.x && /auto|scroll/.test(style.overflowX) && outer.scrollWidth > outer.clientWidth) scrollsX = true
      if (cuts.y && /auto|scroll/.test(style.overflowY) && outer.scrollHeight > outer.clientHeight) scrollsY = true
      const isGraph = outer.matches('.react-flow, .flow-graph, .react-flow *')
      // Text inside a flex or grid box is cut without an ellipsis.
      const ends = style.textOverflow === 'ellipsis' && (outer !== element || !/flex|grid/.test(style.display))
      const short = ends || Number(style.webkitLineClamp) > 0
      if (cuts.x && !scrollsX && !isGraph && (shown.right > right + 1.5 || shown.left < left - 1.5)) {
        if (!short) found.add(`cut off at the side by ${about(outer).slice(0, 60)}: ${about(element)}`)
        else if (outer.closest('[title]') === null && outer.querySelector('[title]') === null)
          found.add(`shortened without a title: ${about(element)}`)
      }
      if (
        cuts.y &&
        !scrollsY &&
        !isGraph &&
        !short &&
        (shown.bottom > bottom + 3 || shown.top < over - 3) &&
        box.top < bottom
      )
        found.add(`cut off below by ${about(outer).slice(0, 60)}: ${about(element)}`)
      if (cuts.x || short) {
        shown.left = Math.max(shown.left, left)
        shown.right = Math.min(shown.right, right)
      }
      if (cuts.y) {
        shown.top = Math.max(shown.top, over)
        shown.bottom = Math.min(shown.bottom, bottom)
      }
    }
    if (!scrollsX && !inGraph && (shown.right > innerWidth + 1 || shown.left < -1))
      found.add(`sticks out of the window: ${about(element)}`)
    if (shown.right - shown.left > 2 && shown.bottom - shown.top > 2) texts.push({ element, lines, shown })
  }
  const out = document.documentElement.scrollWidth - innerWidth
  if (out > 0) found.add(`the page is ${out} px wider than the window`)

  /** Whether something between the two paints over what is below: then it is a layer, and no overlap. */
  const hasGround = (element: Element, until: Element): boolean => {
    for (const each of [element, ...parents(element)]) {
      if (each === until) return false
      const { backgroundColor, backgroundImage } = styleOf(each)
      if (!/^(rgba\(0, 0, 0, 0\)|transparent)$/.test(backgroundColor) || backgroundImage !== 'none') return true
    }
    return false
  }
  const meet = (a: DOMRect, b: DOMRect): boolean =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3
  const common = (a: Element, b: Element): Element => [...parents(a)].find((each) => each.contains(b)) ?? document.body
  // Bars and their labels are drawn over each other where steps are; edges of the graph cross.
  const isDrawn = (element: Element): boolean => element.closest('.canvas, .react-flow__viewport') !== null
  const leaves = texts.filter(({ element }) => !isDrawn(element)).sort((a, b) => a.shown.top - b.shown.top)
  leaves.forEach((a, i) => {
    for (let j = i + 1; j < leaves.length; j++) {
      const b = leaves[j] as Text
      if (b.shown.top > a.shown.bottom - 3) break
      const wide = Math.min(a.shown.right, b.shown.right) - Math.max(a.shown.left, b.shown.left)
      if (wide < 3 || Math.min(a.shown.bottom, b.shown.bottom) - b.shown.top < 3) continue
      if (a.element.contains(b.element) || b.element.contains(a.element)) continue
      const shared = common(a.element, b.element)
      if (!a.lines.some((one) => b.lines.some((other) => meet(one, other)))) continue
      if (!hasGround(a.element, shared) && !hasGround(b.element, shared))
        found.add(`overlap: ${about(a.element)} and ${about(b.element)}`)
    }
  })

  for (const control of top.querySelectorAll('button, a[href], input, select, textarea, summary')) {
    if (
      control.closest(skipped) !== null ||
      isDrawn(control) ||
      !control.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    )
      continue
    let { left, right, top: from, bottom } = control.getBoundingClientRect()
    for (const outer of parents(control)) {
      const style = styleOf(outer)
      const box = outer.getBoundingClientRect()
      if (style.overflowX !== 'visible') [left, right] = [Math.max(left, box.left), Math.min(right, box.right)]
      if (style.overflowY !== 'visible') [from, bottom] = [Math.max(from, box.top), Math.min(bottom, box.bottom)]
    }
    ;[left, right, from, bottom] = [
      Math.max(0, left),
      Math.min(innerWidth, right),
      Math.max(0, from),
      Math.min(innerHeight, bottom),
    ]
    if (right - left < 8 || bottom - from < 8) continue
    const under = document.elementFromPoint((left + right) / 2, (from + bottom) / 2)
    if (
      under === null ||
      control.contains(under) ||
      under.contains(control) ||
      under.closest('label')?.contains(control)
    )
      continue
    // What is scrolled below a bar that stays in sight is no fault, nor are notices and tooltips.
    if (
      hasGround(under, common(control, under)) &&
      /sticky|fixed|absolute/.test([under, ...parents(under)].map((each) => styleOf(each).position).join(' '))
    )
      continue
    found.add(`${about(control)} is covered by ${about(under)}`)
  }
  return [...found]
}
