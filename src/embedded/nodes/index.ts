export type { SimulatedNodeSpec, SimulatedTaint } from './node-object.ts';
export { SimulatedNodes } from './simulated-nodes.ts';
export type { SimulatedNodesOptions } from './simulated-nodes.ts';
export { simulationAnnotations } from './simulation-annotations.ts';
export type { SimulationDefaults } from './simulation-annotations.ts';
export type { SimulationProblem } from './simulation-problem.ts';
