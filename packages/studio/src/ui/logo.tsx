/** The logo: a mill wheel above a stream. */
export function Logo({ size = 20 }: { readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <g strokeWidth="1.7">
        <path d="M4.2 14.6a8 8 0 1 1 15.6 0" />
        <path d="M12 12.5V4.6M12 12.5l6.8-3.9M12 12.5 5.2 8.6" opacity="0.55" />
      </g>
      <g stroke="var(--accent)" strokeWidth="2">
        <path d="M2.5 17.2c1.6-1.3 3.2-1.3 4.75 0s3.15 1.3 4.75 0 3.2-1.3 4.75 0 3.15 1.3 4.75 0" />
        <path d="M6 21c1.1-.9 2.2-.9 3.3 0s2.2.9 3.3 0 2.2-.9 3.3 0 1.5.8 2.1.4" opacity="0.55" />
      </g>
    </svg>
  )
}
