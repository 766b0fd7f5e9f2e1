{{/* The schedulerNames that are ours, as a JSON list. */}}
{{- define "tutti.schedulerNames" -}}
{{- $names := list -}}
{{- range .Values.config.profiles -}}
{{- $names = append $names (.schedulerName | default "default-scheduler") -}}
{{- end -}}
{{- if not $names -}}
{{- $names = list (.Values.scheduler.name | default "tutti") -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{/* The scheduler's file, as YAML. */}}
{{- define "tutti.schedulerConfig" -}}
{{- $config := deepCopy .Values.config -}}
{{- $_ := set $config "apiVersion" "kubescheduler.config.k8s.io/v1" -}}
{{- $_ := set $config "kind" "KubeSchedulerConfiguration" -}}
{{- $election := dict
  "leaderElect" .Values.scheduler.leaderElect
  "resourceName" (include "tutti.componentName" (dict "root" . "component" "scheduler"))
  "resourceNamespace" .Release.Namespace
-}}
{{- $_ := set $config "leaderElection" (mergeOverwrite $election ($config.leaderElection | default dict)) -}}
{{- if not $config.profiles -}}
{{- $profile := dict "schedulerName" (.Values.scheduler.name | default "tutti") -}}
{{- $sets := dict -}}
{{- range $what, $names := .Values.plugins -}}
{{- $set := list -}}
{{- range $names -}}
{{- $set = append $set (dict "name" .) -}}
{{- end -}}
{{- if $set -}}{{- $_ := set $sets $what $set -}}{{- end -}}
{{- end -}}
{{- if $sets -}}{{- $_ := set $profile "plugins" (dict "multiPoint" $sets) -}}{{- end -}}
{{- if .Values.pluginConfig -}}{{- $_ := set $profile "pluginConfig" .Values.pluginConfig -}}{{- end -}}
{{- $_ := set $config "profiles" (list $profile) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* The Lease of a component: name and namespace, as YAML. Takes dict root, component. */}}
{{- define "tutti.lease" -}}
{{- $lease := dict "resourceName" (include "tutti.componentName" .) "resourceNamespace" .root.Release.Namespace -}}
{{- if eq .component "scheduler" -}}
{{- $lease = (include "tutti.schedulerConfig" .root | fromYaml).leaderElection -}}
{{- end -}}
{{- toYaml (pick $lease "resourceName" "resourceNamespace") -}}
{{- end -}}

{{/* Whether an extender binds pods, on which the scheduler then leaves its annotations itself: "true" or nothing. */}}
{{- define "tutti.extenderBinds" -}}
{{- range .Values.config.extenders -}}
{{- if .bindVerb }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* Whether some profile runs a plugin of Tutti's, or may: "true" or nothing. Takes dict root, plugin. */}}
{{- define "tutti.runs" -}}
{{- $plugin := .plugin -}}
{{- range (include "tutti.schedulerConfig" .root | fromYaml).profiles -}}
{{- $sets := .plugins | default dict -}}
{{- $named := false -}}
{{- range $sets -}}
{{- range .enabled -}}{{- if eq .name $plugin -}}{{- $named = true -}}{{- end -}}{{- end -}}
{{- end -}}
{{- $disabled := false -}}
{{- range ($sets.multiPoint | default dict).disabled -}}{{- if has .name (list "*" $plugin) -}}{{- $disabled = true -}}{{- end -}}{{- end -}}
{{- if or $named (not $disabled) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether some profile may spread pods by default constraints, for which it reads what selects them: "true" or nothing. */}}
{{- define "tutti.spreadsByDefault" -}}
{{- if include "tutti.runs" (dict "root" . "plugin" "PodTopologySpread") -}}
{{- range (include "tutti.schedulerConfig" . | fromYaml).profiles -}}
{{- $args := dict -}}
{{- range .pluginConfig -}}{{- if eq .name "PodTopologySpread" -}}{{- $args = .args | default dict -}}{{- end -}}{{- end -}}
{{- if or (ne ($args.defaultingType | default "System") "List") $args.defaultConstraints -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
