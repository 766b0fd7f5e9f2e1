import { BlockList } from 'node:net';
import { compileLabelSelector } from '../../src/api/label-selector.ts';
import type { Labels, LabelSelector } from '../../src/api/label-selector.ts';
import type { ChartObject } from './rendered-chart.ts';

/** An end of a connection: a pod, or an address outside the cluster's pods. */
export interface NetworkPeer {
  readonly namespace?: string;
  readonly namespaceLabels?: Labels;
  readonly labels?: Labels;
  readonly address?: string;
  /** name -> number, of a pod's container ports */
  readonly ports?: Readonly<Record<string, number>>;
}

export interface NetworkPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
}

interface PolicyPeer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface PolicyRule {
  readonly ports?: readonly {
    readonly port?: number | string;
    readonly endPort?: number;
    readonly protocol?: string;
  }[];
  readonly from?: readonly PolicyPeer[];
  readonly to?: readonly PolicyPeer[];
}

interface NetworkPolicySpec {
  readonly podSelector: LabelSelector;
  readonly policyTypes?: readonly ('Ingress' | 'Egress')[];
  readonly ingress?: readonly PolicyRule[];
  readonly egress?: readonly PolicyRule[];
}

/**
 * Evaluates NetworkPolicies by the rules of the API (networking.k8s.io/v1). A pod that no policy of its namespace selects for a direction
 * is open in it. A selected pod is closed except for what a policy admits. A connection between two pods must be admitted at both ends.
 * Network plugins always admit connections from a node to its own pods, such as probes; this class has no exception for them.
 */
export class NetworkPolicies {
  readonly #policies: readonly (NetworkPolicySpec & { readonly namespace: string })[];

  constructor(objects: readonly ChartObject[]) {
    this.#policies = objects
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .map(({ metadata, spec }) => ({ ...(spec as NetworkPolicySpec), namespace: metadata.namespace ?? 'default' }));
  }

  admits(from: NetworkPeer, to: NetworkPeer, port: NetworkPort): boolean {
    return this.#lets('Egress', from, to, to, port) && this.#lets('Ingress', to, from, to, port);
  }

  #lets(
    direction: 'Ingress' | 'Egress',
    pod: NetworkPeer,
    other: NetworkPeer,
    receiver: NetworkPeer,
    port: NetworkPort,
  ): boolean {
    if (pod.namespace === undefined) return true;
    const selecting = this.#policies.filter(
      ({ namespace, podSelector, policyTypes = ['Ingress'] }) =>
        namespace === pod.namespace && policyTypes.includes(direction) && compileLabelSelector(podSelector)(pod.labels),
    );
    if (selecting.length === 0) return true;
    const rules = selecting.flatMap(({ namespace, ingress = [], egress = [] }) =>
      (direction === 'Ingress' ? ingress : egress).map((rule) => ({ namespace, ...rule })),
    );
    return rules.some(({ namespace, ports = [], from, to }) => {
      const peers = (direction === 'Ingress' ? from : to) ?? [];
      return (
        (ports.length === 0 || ports.some((each) => matchesPort(each, receiver, port))) &&
        (peers.length === 0 || peers.some((peer) => matchesPeer(peer, namespace, other)))
      );
    });
  }
}

function matchesPort(
  { port: wanted, endPort, protocol = 'TCP' }: NonNullable<PolicyRule['ports']>[number],
  { ports = {} }: NetworkPeer,
  { port, protocol: used }: NetworkPort,
): boolean {
  if (protocol !== used) return false;
  if (wanted === undefined) return true;
  const first = typeof wanted === 'number' ? wanted : ports[wanted];
  return first !== undefined && port >= first && port <= (endPort ?? first);
}

function matchesPeer(
  { podSelector, namespaceSelector, ipBlock }: PolicyPeer,
  home: string,
  other: NetworkPeer,
): boolean {
  if (ipBlock !== undefined) {
    return (
      other.address !== undefined &&
      isIn(ipBlock.cidr, other.address) &&
      !(ipBlock.except ?? []).some((cidr) => isIn(cidr, other.address!))
    );
  }
  if (other.namespace === undefined) return false;
  const isOfNamespace =
    namespaceSelector === undefined
      ? other.namespace === home
      : compileLabelSelector(namespaceSelector)(other.namespaceLabels);
  return isOfNamespace && (podSelector === undefined || compileLabelSelector(podSelector)(other.labels));
}

function isIn(cidr: string, address: string): boolean {
  const [network, bits] = cidr.split('/') as [string, string];
  const list = new BlockList();
  list.addSubnet(network, Number(bits));
  return list.check(address);
}
