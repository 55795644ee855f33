// The place of a package that neither the page nor the runtime loads.
export default undefined
