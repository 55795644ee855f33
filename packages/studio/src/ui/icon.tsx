/** Icons of one stroke weight on a 16 px grid. They are decorative: the control around an icon has the name. */
const paths = {
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  close: 'm4 4 8 8m0-8-8 8',
  maximise: 'M9.5 2.5h4v4m0-4-4.5 4.5M6.5 13.5h-4v-4m0 4L7 9',
  restore: 'M13.5 6.5h-4v-4m0 4L14 2M2.5 9.5h4v4m0-4L2 14',
  share:
    'M10.5 5.5 5.5 8l5 2.5M12 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM4 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm8 4a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  settings:
    'M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM8 1.8v2m0 8.4v2M1.8 8h2m8.4 0h2M3.6 3.6 5 5m6 6 1.4 1.4m0-8.8L11 5m-6 6-1.4 1.4',
  filter: 'M2 3.5h12L9.5 9v4l-3-1.5V9L2 3.5Z',
  inbox: 'M2.5 9 4.5 3h7l2 6v4h-11V9Zm0 0h3l1 2h3l1-2h3',
  up: 'm3 10 5-5 5 5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.5-1.5L14 14',
  send: 'M14 2 7.5 8.5M14 2 9.5 14l-2-5.5L2 6.5 14 2Z',
  stop: 'M4.5 4.5h7v7h-7z',
  play: 'm5 3.5 7 4.5-7 4.5v-9Z',
  pause: 'M5.5 3.5v9m5-9v9',
  latest: 'M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm-4.2 2.2a6 6 0 0 1 0-8.4m8.4 8.4a6 6 0 0 0 0-8.4',
  left: 'm10 3-5 5 5 5',
  right: 'm6 3 5 5-5 5',
  down: 'm3 6 5 5 5-5',
  sidebar: 'M2.5 3.5h11v9h-11zM6 3.5v9',
  panel: 'M2.5 3.5h11v9h-11zM10 3.5v9',
  timeline: 'M2 4h6M5 8h8M3.5 12h5',
  flow: 'M3 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm10 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0-8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4.5 4h7M4 5l8 6',
  state: 'M6 2.5C4 2.5 5 7 3 8c2 1 1 5.5 3 5.5m4-11c2 0 1 4.5 3 5.5-2 1-1 5.5-3 5.5',
  proof: 'M8 1.8 13 4v3.6c0 3.2-2.1 5.6-5 6.6-2.9-1-5-3.4-5-6.6V4l5-2.2ZM5.8 7.8l1.6 1.6 3-3.2',
  plan: 'M6.5 4h7M6.5 8h7m-7 4h7M2.2 4l.8.8L4.5 3.2M2.2 8l.8.8 1.5-1.6M2.2 12l.8.8 1.5-1.6',
  wire: 'M2 8h2.5L6.5 3l3 10 2-5H14',
  step: 'M8 2v3m0 6v3M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2 8h3m6 0h3',
  problems: 'M8 2 14.5 13h-13L8 2Zm0 4.5v3m0 1.8v.2',
  usage: 'M3 13V9m3.3 4V5m3.4 8V7m3.3 6V3',
  compare: 'M8 2v12M2.5 5h3m-3 3h3m-3 3h3m5-6h3m-3 3h3m-3 3h3',
  copy: 'M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2',
  download: 'M8 2.5v7m-3-3 3 3 3-3M3 13h10',
  leave: 'M6.5 3H3v10h3.5M10 5l3 3-3 3m3-3H6',
  upload: 'M8 10V3m-3 3 3-3 3 3M3 13h10',
  trash: 'M3 4.5h10M6.5 4V2.8h3V4M4.5 4.5l.5 8.7h6l.5-8.7',
  pencil: 'm3 13 .6-2.8L10.8 3l2.2 2.2-7.2 7.2L3 13Z',
  fork: 'M4.5 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm7 0a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm-7 9a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0-9v6m7-6c0 3-7 2-7 5',
  retry: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.8h-2.8',
  thumbUp: 'M5 7.5v6H2.5v-6H5Zm0 0L8 2c1 0 1.8.8 1.6 1.9L9 6.5h4c.8 0 1.3.7 1.1 1.5l-1.2 4.4c-.2.6-.7 1.1-1.4 1.1H5',
  thumbDown:
    'M11 8.5v-6h2.5v6H11Zm0 0L8 14c-1 0-1.8-.8-1.6-1.9L7 9.5H3c-.8 0-1.3-.7-1.1-1.5l1.2-4.4c.2-.6.7-1.1 1.4-1.1H11',
  tool: 'M9.8 2.4a3.2 3.2 0 0 0-3.6 4.4L2.6 10.4a1.6 1.6 0 1 0 2.3 2.3l3.6-3.6a3.2 3.2 0 0 0 4.4-3.6L11 7.3 9 6.8 8.6 4.8l1.2-2.4Z',
  thought:
    'M5.5 11.5C3.5 11 2.5 9.5 2.5 7.8 2.5 5 5 3 8 3s5.5 2 5.5 4.8-2.5 4.7-5.5 4.7c-.4 0-.8 0-1.2-.1L4 13.5l1.5-2Z',
  question: 'M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4m0 2.3v.2',
  check: 'm3 8.5 3.2 3.2L13 5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm0-9.5V3m0 10v1.5M1.5 8H3m10 0h1.5M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1M4.4 11.6l-1 1',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z',
  transfer: 'M2.5 5h9m-2.5-2.5L11.5 5 9 7.5M13.5 11h-9M7 8.5 4.5 11 7 13.5',
  pin: 'm9.5 2 4.5 4.5-2.5.8-2.8 2.8-.5 3-5.3-5.3 3-.5L8.7 4.5 9.5 2ZM5.5 10.5 2.5 13.5',
  system: 'M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3',
  keyboard: 'M1.5 4.5h13v7.5h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.7h6',
  folder: 'M2 4.5h4l1.3 1.5H14v7H2z',
  file: 'M4 2h5l3 3v9H4V2Zm5 0v3h3',
} as const
export type IconName = keyof typeof paths

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}
