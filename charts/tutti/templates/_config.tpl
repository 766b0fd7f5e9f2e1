{{/* The release's schedulerNames, as a JSON list. */}}
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

{{/* The scheduler's configuration file, as YAML. */}}
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
{{- if and (eq $what "disabled") (not $.Values.preemption.enabled) (not (has "*" $names)) (not (has "DefaultPreemption" $names)) -}}
{{- $set = append $set (dict "name" "DefaultPreemption") -}}
{{- end -}}
{{- if $set -}}{{- $_ := set $sets $what $set -}}{{- end -}}
{{- end -}}
{{- if $sets -}}{{- $_ := set $profile "plugins" (dict "multiPoint" $sets) -}}{{- end -}}
{{- if .Values.pluginConfig -}}{{- $_ := set $profile "pluginConfig" .Values.pluginConfig -}}{{- end -}}
{{- with .Values.reservations -}}
{{- if .enabled -}}{{- $_ := set $profile "reservations" (empty .poolLabel | ternary (omit . "poolLabel") .) -}}{{- end -}}
{{- end -}}
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

{{/* "true" if the controller writes the status of Kubernetes' own PodGroups; otherwise empty. */}}
{{- define "tutti.writesNativeStatus" -}}
{{- $given := toString .Values.nativePodGroups.writeStatus -}}
{{- $isServed := false -}}
{{- range list "v1beta1" "v1alpha3" "v1alpha2" -}}
{{- if $.Capabilities.APIVersions.Has (printf "scheduling.k8s.io/%s/PodGroup" .) -}}{{- $isServed = true -}}{{- end -}}
{{- end -}}
{{- if or (eq $given "true") (and (eq $given "auto") $isServed) -}}true{{- end -}}
{{- end -}}

{{/* "true" if an extender binds pods, so that the scheduler has to set its annotations itself; otherwise empty. */}}
{{- define "tutti.extenderBinds" -}}
{{- range .Values.config.extenders -}}
{{- if .bindVerb }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* "true" if a profile enables reservations, and the scheduler therefore reads Jobs; otherwise empty. */}}
{{- define "tutti.reserves" -}}
{{- range (include "tutti.schedulerConfig" . | fromYaml).profiles -}}
{{- if (.reservations | default dict).enabled }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* "true" if a profile runs, or may run, one of Tutti's plugins; otherwise empty. Takes dict root, plugin. */}}
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

{{/* "true" if a profile may spread pods by default constraints, and therefore reads the objects that select them; otherwise empty. */}}
{{- define "tutti.spreadsByDefault" -}}
{{- if include "tutti.runs" (dict "root" . "plugin" "PodTopologySpread") -}}
{{- range (include "tutti.schedulerConfig" . | fromYaml).profiles -}}
{{- $args := dict -}}
{{- range .pluginConfig -}}{{- if eq .name "PodTopologySpread" -}}{{- $args = .args | default dict -}}{{- end -}}{{- end -}}
{{- if or (ne ($args.defaultingType | default "System") "List") $args.defaultConstraints -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
