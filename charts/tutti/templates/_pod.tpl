{{/*
The Deployment of a component. Takes dict root, component, port, args and, optionally, annotations of the pods, volumes and
volumeMounts.
*/}}
{{- define "tutti.deployment" -}}
{{- $values := .root.Values -}}
{{- $its := index $values .component -}}
{{- $selector := include "tutti.selectorLabels" . | fromYaml -}}
{{- $args := .args -}}
{{- $volumes := .volumes | default list -}}
{{- $mounts := .volumeMounts | default list -}}
{{- if $values.tls.secretName -}}
{{- $args = concat $args (list "--tls-cert-file=/etc/tutti/tls/tls.crt" "--tls-private-key-file=/etc/tutti/tls/tls.key") -}}
{{- $volumes = append $volumes (dict "name" "tls" "secret" (dict "secretName" $values.tls.secretName)) -}}
{{- $mounts = append $mounts (dict "name" "tls" "mountPath" "/etc/tutti/tls" "readOnly" true) -}}
{{- end -}}
{{- if $values.tls.minVersion -}}
{{- $args = append $args (printf "--tls-min-version=%s" $values.tls.minVersion) -}}
{{- end -}}
{{- if $values.tls.cipherSuites -}}
{{- $args = append $args (printf "--tls-cipher-suites=%s" (join "," $values.tls.cipherSuites)) -}}
{{- end -}}
{{- $args = concat $args (list
  (printf "--bind-address=%s" $values.bindAddress)
  (printf "--secure-port=%d" (int .port))
  (printf "--log-level=%s" $values.logging.level)
  (printf "--log-format=%s" $values.logging.format)
) $its.extraArgs -}}
{{- $volumes = concat $volumes $its.extraVolumes -}}
{{- $mounts = concat $mounts $its.extraVolumeMounts -}}
{{- $annotations := merge (dict) (.annotations | default dict) $its.podAnnotations -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "tutti.componentName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "tutti.labels" . | nindent 4 }}
spec:
  replicas: {{ int $its.replicaCount }}
  revisionHistoryLimit: 3
  {{- if $its.leaderElect }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  {{- else }}
  strategy:
    type: Recreate # without leader election, two pods would be active at the same time
  {{- end }}
  selector:
    matchLabels: {{- toYaml $selector | nindent 6 }}
  template:
    metadata:
      labels: {{- toYaml (mergeOverwrite (dict) $values.commonLabels $its.podLabels $selector) | nindent 8 }}
      {{- with $annotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "tutti.serviceAccountName" . | quote }}
      automountServiceAccountToken: true
      enableServiceLinks: false
      schedulerName: {{ $values.podSchedulerName | quote }}
      {{- with $its.priorityClassName }}
      priorityClassName: {{ . | quote }}
      {{- end }}
      terminationGracePeriodSeconds: {{ int $its.terminationGracePeriodSeconds }}
      {{- with include "tutti.imagePullSecrets" .root }}
      imagePullSecrets: {{- . | nindent 8 }}
      {{- end }}
      {{- with $its.podSecurityContext }}
      securityContext: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $its.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $its.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $its.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $its.topologySpreadConstraints }}
      topologySpreadConstraints:
        {{- range . }}
        {{- $own := dict "labelSelector" (dict "matchLabels" $selector) }}
        {{- list (hasKey . "labelSelector" | ternary . (merge (dict) . $own)) | toYaml | nindent 8 }}
        {{- end }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "tutti.image" .root | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args: {{- toYaml $args | nindent 12 }}
          {{- with $its.extraEnv }}
          env: {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - name: https
              containerPort: {{ int .port }}
              protocol: TCP
          startupProbe: {{- include "tutti.probe" (dict "path" "/livez" "times" $its.startupProbe) | nindent 12 }}
          livenessProbe: {{- include "tutti.probe" (dict "path" "/livez" "times" $its.livenessProbe) | nindent 12 }}
          readinessProbe: {{- include "tutti.probe" (dict "path" "/readyz" "times" $its.readinessProbe) | nindent 12 }}
          {{- with $its.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with $its.securityContext }}
          securityContext: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with $mounts }}
          volumeMounts: {{- toYaml . | nindent 12 }}
          {{- end }}
      {{- with $volumes }}
      volumes: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}

{{/* A probe. Takes dict path, times. */}}
{{- define "tutti.probe" -}}
httpGet:
  path: {{ .path }}
  port: https
  scheme: HTTPS
{{- with .times }}
{{ toYaml . }}
{{- end }}
{{- end -}}
