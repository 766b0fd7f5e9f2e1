{{/* Objects that both components have, apart from their Deployments and roles. All take dict root, component. */}}

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
automountServiceAccountToken: false # the pod enables it
{{- end -}}
{{- end -}}

{{/* Also takes port. */}}
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

{{/* Role for the component's Lease, and its binding. */}}
{{- define "tutti.leaseRole" -}}
{{- $lease := include "tutti.lease" . | fromYaml -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "tutti.clusterName" (dict "root" .root "suffix" (printf "%s-lease" .component)) }}
  namespace: {{ $lease.resourceNamespace | quote }}
  labels: {{- include "tutti.labels" . | nindent 4 }}
rules:
  # leader election: to create the Lease; RBAC cannot limit `create` to a name
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  # leader election: to acquire, renew and release the Lease, and to notice immediately when another process releases it
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [{{ $lease.resourceName | quote }}]
    verbs: [get, update, watch]
---
{{ include "tutti.binding" (dict "root" .root "component" .component "kind" "RoleBinding" "namespace" $lease.resourceNamespace "suffix" (printf "%s-lease" .component) "roleKind" "Role" "role" (include "tutti.clusterName" (dict "root" .root "suffix" (printf "%s-lease" .component)))) }}
{{- end -}}

{{/* Binds a role to the component's ServiceAccount. Also takes kind, namespace (of a RoleBinding), suffix (of its name), roleKind, role. */}}
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

{{/* Rules for authenticating and authorizing clients of the endpoints through the API server. */}}
{{- define "tutti.delegationRules" -}}
# endpoints: to authenticate the token of a client of /metrics or /debug
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
# endpoints: to authorize that client
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end -}}
