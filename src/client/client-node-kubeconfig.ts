/** The one part of client-node that a scheduler needs; on its own, so that the bundle leaves the generated classes out of it. */
export { KubeConfig } from '@kubernetes/client-node';
