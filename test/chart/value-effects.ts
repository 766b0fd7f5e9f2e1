/** The effect of a value. */
export interface Effect {
  readonly value: unknown;
  /** Each changed place must match one of these, and each of these must match. */
  readonly changes: readonly RegExp[];
  /** Other values that this one needs to have an effect. */
  readonly beside?: object;
}

const all = /./;
const pods = (component: string, path: string): RegExp =>
  new RegExp(`^Deployment/tutti-${component}\\.spec\\.template\\.spec\\.${path}`);
const bothPods = (path: string): readonly RegExp[] => [pods('scheduler', path), pods('controller', path)];
/** Fields of the pod of helm test. */
const testPod = (path: string): RegExp => new RegExp(`^Pod/tutti-test\\.spec\\.${path}`);
const arg = (component: string): RegExp => pods(component, 'containers\\.0\\.args\\.');
/** The image of all pods; the test also passes it to the pods that it creates. */
const image = [/image$/, testPod('containers\\.0\\.args\\.4$')];
const bothArgs = [arg('scheduler'), arg('controller')];
const reserving = { reservations: { enabled: true } };
const newFile = [/^ConfigMap\/tutti-scheduler-config\.data/, /^Deployment\/tutti-scheduler\..*checksum\/config$/];

function effectsOfComponent(component: 'scheduler' | 'controller'): Readonly<Record<string, Effect>> {
  const pod = (path: string): RegExp => pods(component, path);
  const container = (path: string): RegExp => pod(`containers\\.0\\.${path}`);
  const template = (path: string): RegExp => new RegExp(`^Deployment/tutti-${component}\\.spec\\.template\\.${path}`);
  const isScheduler = component === 'scheduler';
  /** The test pod runs on the same nodes as the scheduler. */
  const alsoOfTest = (path: string): readonly RegExp[] => (isScheduler ? [testPod(path)] : []);
  const account = new RegExp(`^ServiceAccount/tutti-${component}$`);
  const effects: Readonly<Record<string, Effect>> = {
    replicaCount: {
      value: 2,
      changes: [
        new RegExp(`^Deployment/tutti-${component}\\.spec\\.replicas$`),
        new RegExp(`^PodDisruptionBudget/tutti-${component}$`),
      ],
    },
    leaderElect: {
      value: false,
      changes: [
        new RegExp(`^Deployment/tutti-${component}\\.spec\\.strategy\\.`),
        new RegExp(`^Role(Binding)?/tutti:tutti-system:${component}-lease$`),
        ...(isScheduler ? newFile : [arg('controller')]),
      ],
    },
    priorityClassName: { value: 'high', changes: [pod('priorityClassName$')] },
    resources: { value: { limits: { memory: '1Gi' } }, changes: [container('resources\\.limits$')] },
    nodeSelector: {
      value: { pool: 'system' },
      changes: [pod('nodeSelector\\.pool$'), ...alsoOfTest('nodeSelector\\.pool$')],
    },
    affinity: { value: { nodeAffinity: {} }, changes: [pod('affinity$')] },
    tolerations: { value: [{ operator: 'Exists' }], changes: [pod('tolerations'), ...alsoOfTest('tolerations')] },
    topologySpreadConstraints: { value: [], changes: [pod('topologySpreadConstraints')] },
    podLabels: { value: { a: 'b' }, changes: [template('metadata\\.labels\\.a$')] },
    podAnnotations: { value: { 'a.b/c': 'd: e' }, changes: [template('metadata\\.annotations')] },
    podSecurityContext: {
      value: { runAsUser: 1000 },
      changes: [pod('securityContext\\.runAsUser$'), ...alsoOfTest('securityContext\\.runAsUser$')],
    },
    securityContext: {
      value: { runAsGroup: 1000 },
      changes: [
        container('securityContext\\.runAsGroup$'),
        ...alsoOfTest('containers\\.0\\.securityContext\\.runAsGroup$'),
      ],
    },
    terminationGracePeriodSeconds: { value: 60, changes: [pod('terminationGracePeriodSeconds$')] },
    startupProbe: { value: { failureThreshold: 7 }, changes: [container('startupProbe\\.failureThreshold$')] },
    livenessProbe: { value: { timeoutSeconds: 7 }, changes: [container('livenessProbe\\.timeoutSeconds$')] },
    readinessProbe: { value: { periodSeconds: 7 }, changes: [container('readinessProbe\\.periodSeconds$')] },
    extraArgs: { value: ['--kube-api-qps=7'], changes: [container('args\\.')] },
    extraEnv: { value: [{ name: 'A', value: 'b' }], changes: [container('env$')] },
    extraVolumes: { value: [{ name: 'v', emptyDir: {} }], changes: [pod('volumes')] },
    extraVolumeMounts: { value: [{ name: 'v', mountPath: '/v' }], changes: [container('volumeMounts')] },
    'serviceAccount.create': {
      value: false,
      beside: { [component]: { serviceAccount: { name: `tutti-${component}` } } },
      changes: [account],
    },
    'serviceAccount.name': {
      value: 'other',
      changes: [
        new RegExp(`^ServiceAccount/(tutti-${component}|other)$`),
        pod('serviceAccountName$'),
        new RegExp(`Binding/tutti:tutti-system:${component}.*subjects\\.0\\.name$`),
      ],
    },
    'serviceAccount.annotations': {
      value: { 'a.b/role': 'c' },
      changes: [new RegExp(`^ServiceAccount/tutti-${component}\\.metadata\\.annotations$`)],
    },
  };
  return Object.fromEntries(Object.entries(effects).map(([path, effect]) => [`${component}.${path}`, effect]));
}

const monitored = {
  metrics: { serviceMonitor: { enabled: true, renderMode: 'alwaysRender' } },
};
const byPod = {
  metrics: { podMonitor: { enabled: true, renderMode: 'alwaysRender', credentials: { name: 'token' } } },
};
const alerting = { metrics: { prometheusRule: { enabled: true, renderMode: 'alwaysRender' } } };
const withDashboard = { metrics: { dashboard: { enabled: true } } };

function effectsOfMonitor(
  kind: 'ServiceMonitor' | 'PodMonitor',
  beside: object,
  endpoints: string,
): Readonly<Record<string, Effect>> {
  const each = (path: string): RegExp => new RegExp(`^${kind}/tutti-(scheduler|controller)\\.${path}`);
  const endpoint = (path: string): RegExp => each(`spec\\.${endpoints}\\.0\\.${path}`);
  const effects: Readonly<Record<string, Effect>> = {
    enabled: { value: false, beside, changes: [new RegExp(`^${kind}/`)] },
    renderMode: { value: 'skipIfMissing', beside, changes: [new RegExp(`^${kind}/`)] },
    namespace: {
      value: 'monitoring',
      beside,
      changes: [new RegExp(`^${kind}/tutti-(scheduler|controller)(\\.tutti-system)?$`)],
    },
    additionalLabels: { value: { a: 'b' }, beside, changes: [each('metadata\\.labels\\.a$')] },
    interval: { value: '15s', beside, changes: [endpoint('interval$')] },
    scrapeTimeout: { value: '5s', beside, changes: [endpoint('scrapeTimeout$')] },
    tlsConfig: { value: { serverName: 'tutti' }, beside, changes: [endpoint('tlsConfig\\.serverName$')] },
    relabelings: { value: [{ targetLabel: 'a' }], beside, changes: [endpoint('relabelings\\.1$')] },
    metricRelabelings: { value: [{ targetLabel: 'a' }], beside, changes: [endpoint('metricRelabelings$')] },
  };
  const key = kind === 'ServiceMonitor' ? 'serviceMonitor' : 'podMonitor';
  return Object.fromEntries(Object.entries(effects).map(([path, effect]) => [`metrics.${key}.${path}`, effect]));
}

const rule = (path: string): RegExp => new RegExp(`^PrometheusRule/tutti\\.${path}`);
const dashboard = (path: string): RegExp => new RegExp(`^ConfigMap/tutti-dashboard\\.${path}`);
const policy = (path: string): RegExp => new RegExp(`^NetworkPolicy/tutti\\.${path}`);
const withEgress = { networkPolicy: { restrictEgress: true } };

/** value -> its effect; contains every value of values.yaml */
export const valueEffects: Readonly<Record<string, Effect>> = {
  nameOverride: { value: 'gang', changes: [all] },
  fullnameOverride: { value: 'gang', changes: [all] },
  commonLabels: {
    value: { team: 'batch' },
    changes: [/\.metadata\.labels\.team$/, /\.template\.metadata\.labels\.team$/],
  },
  'global.imageRegistry': { value: 'r.example.com', changes: image },
  'global.imagePullSecrets': { value: ['s'], changes: [/\.imagePullSecrets$/] },
  'image.registry': { value: 'r.example.com:5000', changes: image },
  'image.repository': { value: 'a/b', changes: image },
  'image.tag': { value: '1.10', changes: image },
  'image.digest': { value: `sha256:${'a'.repeat(64)}`, changes: image },
  'image.pullPolicy': { value: 'Always', changes: [/imagePullPolicy$/] },
  'image.pullSecrets': { value: [{ name: 's' }], changes: [/\.imagePullSecrets$/] },
  'crds.install': { value: false, changes: [/^CustomResourceDefinition\/podgroups\.scheduling\.x-k8s\.io$/] },
  'crds.keep': { value: false, changes: [/^CustomResourceDefinition\/.*helm\.sh\/resource-policy$/] },
  'rbac.create': {
    value: false,
    changes: [
      /^(Cluster)?Role(Binding)?\/tutti:tutti-system:[a-z-]+$/,
      /^ServiceAccount\/tutti-test$/,
      testPod('(serviceAccountName$|containers\\.0\\.args\\.)'),
    ],
  },
  'rbac.aggregate': { value: false, changes: [/^ClusterRole\/.*labels\.rbac.*aggregate-to-(view|edit|admin)$/] },
  'rbac.authReader': { value: false, changes: [/^RoleBinding\/.*-auth-reader$/] },
  'rbac.stockRoles': {
    value: true,
    changes: [
      /^ClusterRole\/tutti:tutti-system:scheduler\.rules\.[1-9]/,
      /^ClusterRoleBinding\/tutti:tutti-system:scheduler-as-(kube|volume)-scheduler$/,
    ],
  },
  config: { value: { podMaxBackoffSeconds: 20 }, changes: newFile },
  'plugins.enabled': { value: ['Coscheduling'], changes: newFile },
  'plugins.disabled': { value: ['NodeAffinity'], changes: newFile },
  pluginConfig: { value: [{ name: 'Coscheduling', args: { permitWaitingTimeSeconds: 1000000 } }], changes: newFile },
  'preemption.enabled': {
    value: false,
    changes: [...newFile, /^ClusterRole\/tutti:tutti-system:scheduler\.rules/],
  },
  'reservations.enabled': {
    value: true,
    changes: [...newFile, /^ClusterRole\/tutti:tutti-system:scheduler\.rules/],
  },
  'reservations.poolLabel': { value: 'a.b/c', beside: reserving, changes: newFile },
  'reservations.reserveAfterSeconds': { value: 0, beside: reserving, changes: newFile },
  'reservations.drainAfterSeconds': { value: 1_000_000, beside: reserving, changes: newFile },
  'reservations.overrunPenaltySeconds': { value: 0, beside: reserving, changes: newFile },
  'nativePodGroups.writeStatus': {
    value: true,
    changes: [arg('controller'), /^ClusterRole\/tutti:tutti-system:controller\.rules/],
  },
  'scheduler.name': { value: 'gang', changes: [...newFile, testPod('containers\\.0\\.args\\.')] },
  ...effectsOfComponent('scheduler'),
  'controller.enabled': { value: false, changes: [/\/(tutti:tutti-system:|tutti-)controller[a-z-]*$/] },
  'controller.workers': { value: 8, changes: [arg('controller')] },
  'controller.kubeApiQps': { value: 0.5, changes: [arg('controller')] },
  'controller.kubeApiBurst': { value: 1_000_000, changes: [arg('controller')] },
  ...effectsOfComponent('controller'),
  maxRepairGraceSeconds: { value: 60, changes: bothArgs },
  podSchedulerName: { value: 'other', changes: [...bothPods('schedulerName$'), testPod('schedulerName$')] },
  bindAddress: { value: '::', changes: bothArgs },
  'tls.secretName': { value: 'cert', changes: [...bothArgs, ...bothPods('(volumes|containers\\.0\\.volumeMounts)')] },
  'tls.minVersion': { value: 'VersionTLS13', changes: bothArgs },
  'tls.cipherSuites': { value: ['TLS_AES_128_GCM_SHA256'], changes: bothArgs },
  'logging.level': { value: 'debug', changes: bothArgs },
  'logging.format': { value: 'text', changes: bothArgs },
  'podDisruptionBudget.enabled': {
    value: false,
    beside: { scheduler: { replicaCount: 2 } },
    changes: [/^PodDisruptionBudget\/tutti-scheduler$/],
  },
  'podDisruptionBudget.maxUnavailable': {
    value: '50%',
    beside: { scheduler: { replicaCount: 2 } },
    changes: [/^PodDisruptionBudget\/.*maxUnavailable$/],
  },
  'podDisruptionBudget.unhealthyPodEvictionPolicy': {
    value: 'IfHealthyBudget',
    beside: { scheduler: { replicaCount: 2 } },
    changes: [/^PodDisruptionBudget\/.*unhealthyPodEvictionPolicy$/],
  },
  'service.enabled': { value: false, changes: [/^Service\/tutti-(scheduler|controller)$/] },
  'service.annotations': { value: { a: 'b' }, changes: [/^Service\/.*annotations$/] },
  'networkPolicy.enabled': { value: false, changes: [/^NetworkPolicy\/tutti$/] },
  'networkPolicy.ingressFrom': {
    value: [{ namespaceSelector: {} }],
    changes: [policy('spec\\.ingress')],
  },
  'networkPolicy.restrictEgress': { value: true, changes: [policy('spec\\.(egress|policyTypes)')] },
  'networkPolicy.apiServerPorts': { value: [8443], beside: withEgress, changes: [policy('spec\\.egress\\.0')] },
  'networkPolicy.extraEgress': {
    value: [{ ports: [{ port: 1 }] }],
    beside: withEgress,
    changes: [policy('spec\\.egress\\.2$')],
  },
  'metrics.readers': {
    value: [{ name: 'prometheus', namespace: 'monitoring' }],
    changes: [/^ClusterRoleBinding\/tutti:tutti-system:metrics-reader$/, policy('spec\\.ingress')],
  },
  ...effectsOfMonitor('ServiceMonitor', monitored, 'endpoints'),
  ...effectsOfMonitor('PodMonitor', byPod, 'podMetricsEndpoints'),
  'metrics.podMonitor.credentials.name': {
    value: 'other',
    beside: byPod,
    changes: [/^PodMonitor\/.*authorization\.credentials\.name$/],
  },
  'metrics.podMonitor.credentials.key': {
    value: 'other',
    beside: byPod,
    changes: [/^PodMonitor\/.*authorization\.credentials\.key$/],
  },
  'metrics.prometheusRule.enabled': { value: false, beside: alerting, changes: [/^PrometheusRule\/tutti$/] },
  'metrics.prometheusRule.renderMode': {
    value: 'skipIfMissing',
    beside: alerting,
    changes: [/^PrometheusRule\/tutti$/],
  },
  'metrics.prometheusRule.namespace': {
    value: 'monitoring',
    beside: alerting,
    changes: [/^PrometheusRule\/tutti(\.tutti-system)?$/],
  },
  'metrics.prometheusRule.additionalLabels': {
    value: { release: 'prometheus' },
    beside: alerting,
    changes: [rule('metadata\\.labels\\.release$')],
  },
  'metrics.prometheusRule.disabled': {
    value: ['TuttiControllerDown'],
    beside: alerting,
    changes: [rule('spec\\.groups\\.1$')],
  },
  'metrics.prometheusRule.overrides': {
    value: { TuttiDown: { for: '1m', labels: { severity: 'warning' } } },
    beside: alerting,
    changes: [rule('spec\\.groups\\.0\\.rules\\.0\\.for$'), rule('spec\\.groups\\.0\\.rules\\.0\\.labels\\.severity$')],
  },
  'metrics.prometheusRule.runbookUrl': {
    value: 'https://example.com/runbooks/',
    beside: alerting,
    changes: [rule('spec\\.groups\\..*annotations\\.runbook_url$')],
  },
  'metrics.dashboard.enabled': { value: true, changes: [/^ConfigMap\/tutti-dashboard$/] },
  'metrics.dashboard.namespace': {
    value: 'monitoring',
    beside: withDashboard,
    changes: [/^ConfigMap\/tutti-dashboard(\.tutti-system)?$/],
  },
  'metrics.dashboard.labels': {
    value: { grafana_dashboard: 'yes' },
    beside: withDashboard,
    changes: [dashboard('metadata\\.labels\\.grafana_dashboard$')],
  },
  'metrics.dashboard.annotations': {
    value: { 'k8s-sidecar-target-directory': '/tutti' },
    beside: withDashboard,
    changes: [dashboard('metadata\\.annotations$')],
  },
  'tests.enabled': {
    value: false,
    changes: [/^(Pod|ServiceAccount)\/tutti-test$/, /^Role(Binding)?\/tutti:tutti-system:test$/],
  },
  extraObjects: {
    value: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'extra' } },
      'apiVersion: v1\nkind: Secret\nmetadata: {name: "{{ .Release.Name }}-extra"}',
    ],
    changes: [/^ConfigMap\/extra$/, /^Secret\/tutti-extra$/],
  },
};

/** Values whose effect needs a cluster. */
export const notRendered = ['crds.takeOwnership'];
