{{/* What both components have, beside their Deployments and rights. All take dict root, component. */}}

{{- define "tutti.serviceAccount" -}}
{{- $account := (index .root.Values .component).serviceAccount -}}
{{- if $account.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "tutti.serviceAccountName" . | quote }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "tutti.labels" . | nindent 4 }}
  {{- with $account.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false # the pod asks for it
{{- end -}}
{{- end -}}

{{/* Takes port as well. */}}
{{- define "tutti.service" -}}
{{- if .root.Values.service.enabled -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "tutti.componentName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "tutti.labels" . | nindent 4 }}
  {{- with .root.Values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  clusterIP: None
  selector: {{- include "tutti.selectorLabels" . | nindent 4 }}
  ports:
    - name: https
      port: {{ int .port }}
      targetPort: https
      protocol: TCP
{{- end -}}
{{- end -}}

{{- define "tutti.podDisruptionBudget" -}}
{{- $budget := .root.Values.podDisruptionBudget -}}
{{- if and $budget.enabled (gt (int (index .root.Values .component).replicaCount) 1) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "tutti.componentName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "tutti.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ kindIs "string" $budget.maxUnavailable | ternary $budget.maxUnavailable (int $budget.maxUnavailable) }}
  unhealthyPodEvictionPolicy: {{ $budget.unhealthyPodEvictionPolicy }}
  selector:
    matchLabels: {{- include "tutti.selectorLabels" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* Rights on the component's Lease, and what gives its ServiceAccount these and its other rights. */}}
{{- define "tutti.leaseRole" -}}
{{- $lease := include "tutti.lease" . | fromYaml -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "tutti.clusterName" (dict "root" .root "suffix" (printf "%s-lease" .component)) }}
  namespace: {{ $lease.resourceNamespace | quote }}
  labels: {{- include "tutti.labels" . | nindent 4 }}
rules:
  # leader election: the Lease is made when there is none; a right to make cannot be bound to a name
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  # leader election: taking, renewing and giving up the Lease, and seeing at once that another gave it up
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [{{ $lease.resourceName | quote }}]
    verbs: [get, update, watch]
---
{{ include "tutti.binding" (dict "root" .root "component" .component "kind" "RoleBinding" "namespace" $lease.resourceNamespace "suffix" (printf "%s-lease" .component) "roleKind" "Role" "role" (include "tutti.clusterName" (dict "root" .root "suffix" (printf "%s-lease" .component)))) }}
{{- end -}}

{{/* Gives the component's ServiceAccount a role. Takes kind, namespace (of a RoleBinding), suffix (of its name), roleKind, role as well. */}}
{{- define "tutti.binding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ include "tutti.clusterName" (dict "root" .root "suffix" .suffix) }}
  {{- with .namespace }}
  namespace: {{ . | quote }}
  {{- end }}
  labels: {{- include "tutti.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .roleKind }}
  name: {{ .role | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ include "tutti.serviceAccountName" . | quote }}
    namespace: {{ .root.Release.Namespace }}
{{- end -}}

{{/* Rules with which a process asks the API server who calls its endpoints, and whether they may. */}}
{{- define "tutti.delegationRules" -}}
# endpoints: whose token a caller of /metrics or /debug shows
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
# endpoints: whether that caller may
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end -}}
