/**
 * States that the sender reads AG-UI 1.0, as `protocolVersion` in the body does. Strict 0.x servers refuse a body with
 * that field, but no server refuses a header. So a Millrace in front of another Millrace loses nothing.
 */
export const protocolHeader = 'ag-ui-protocol-version'
