/** The only part of client-node that a scheduler needs. In its own module, so that the bundle leaves out the generated classes. */
export { KubeConfig } from '@kubernetes/client-node';
