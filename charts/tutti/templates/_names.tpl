{{/* Names and labels. A component is "scheduler" or "controller". */}}

{{- define "tutti.name" -}}
{{- .Values.nameOverride | default .Chart.Name -}}
{{- end -}}

{{/*
Prefix of all names: a DNS label that begins with a letter, as Service names require. At most 45 characters, so that
"-scheduler-config" fits behind it. A hash replaces what is cut, so that two long names stay different.
*/}}
{{- define "tutti.fullname" -}}
{{- $name := include "tutti.name" . -}}
{{- $full := .Release.Name -}}
{{- if .Values.fullnameOverride -}}
{{- $full = .Values.fullnameOverride -}}
{{- else if not (contains $name .Release.Name) -}}
{{- $full = printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- $label := $full | replace "." "-" -}}
{{- if not (regexMatch "^[a-z]" $label) -}}
{{- $label = printf "%s-%s" $name $label -}}
{{- end -}}
{{- if gt (len $label) 45 -}}
{{- $label = printf "%s-%s" ($label | trunc 36 | trimSuffix "-") ($full | sha256sum | trunc 8) -}}
{{- end -}}
{{- $label -}}
{{- end -}}

{{/* Name of an object of one component. Takes dict root, component. */}}
{{- define "tutti.componentName" -}}
{{- printf "%s-%s" (include "tutti.fullname" .root) .component -}}
{{- end -}}

{{/*
Name of a cluster-scoped object, or of one in another namespace. It contains the release's namespace, because two namespaces may
have releases with the same name. Only names of RBAC objects may contain colons. Takes dict root, suffix.
*/}}
{{- define "tutti.clusterName" -}}
{{- printf "%s:%s:%s" (include "tutti.fullname" .root) .root.Release.Namespace .suffix -}}
{{- end -}}

{{/*
Name of an object that may be in another namespace, such as that of the monitoring. There, it ends with a dot and the release's namespace; neither name contains a dot.
Takes dict root, name, namespace (empty: the release's).
*/}}
{{- define "tutti.nameElsewhere" -}}
{{- $own := .root.Release.Namespace -}}
{{- .name -}}
{{- if ne (.namespace | default $own) $own -}}.{{- $own -}}{{- end -}}
{{- end -}}

{{/* Name of the component's ServiceAccount. Takes dict root, component. */}}
{{- define "tutti.serviceAccountName" -}}
{{- $account := (index .root.Values .component).serviceAccount -}}
{{- $account.name | default (include "tutti.componentName" .) -}}
{{- end -}}

{{/* Labels that never change in the life of a release. Takes dict root, component. Returns a dictionary as YAML. */}}
{{- define "tutti.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tutti.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component | quote }}
{{- end -}}

{{/* Labels of any object. Takes dict root, component and, optionally, more: a dictionary. */}}
{{- define "tutti.labels" -}}
{{- $version := .root.Chart.AppVersion | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $own := dict
  "helm.sh/chart" $chart
  "app.kubernetes.io/version" $version
  "app.kubernetes.io/part-of" "tutti"
  "app.kubernetes.io/managed-by" .root.Release.Service
-}}
{{- $selector := include "tutti.selectorLabels" . | fromYaml -}}
{{- toYaml (mergeOverwrite (dict) .root.Values.commonLabels (.more | default dict) $own $selector) -}}
{{- end -}}

{{/* The image of all pods. */}}
{{- define "tutti.image" -}}
{{- $image := .Values.image -}}
{{- $global := .Values.global | default dict -}}
{{- $registry := $global.imageRegistry | default $image.registry -}}
{{- $digest := ternary "" (printf "@%s" $image.digest) (empty $image.digest) -}}
{{- printf "%s%s:%s%s" (ternary "" (printf "%s/" $registry) (empty $registry)) $image.repository ($image.tag | default .Chart.AppVersion) $digest -}}
{{- end -}}

{{/* Returns a list of objects with names, as YAML; empty when there are none. */}}
{{- define "tutti.imagePullSecrets" -}}
{{- $secrets := list -}}
{{- $global := .Values.global | default dict -}}
{{- range concat ($global.imagePullSecrets | default list) .Values.image.pullSecrets -}}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) -}}
{{- end -}}
{{- with $secrets | uniq }}{{ toYaml . }}{{ end -}}
{{- end -}}
