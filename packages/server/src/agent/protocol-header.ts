/**
 * Says that the sender reads AG-UI 1.0, as `protocolVersion` of the body does. Strict 0.x servers refuse a body with that
 * field, and no server refuses a header: so one Millrace before another loses nothing.
 */
export const protocolHeader = 'ag-ui-protocol-version'
