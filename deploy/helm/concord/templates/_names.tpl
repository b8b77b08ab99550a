{{/* Names, labels, images: what every manifest shares. */}}

{{- define "concord.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The pods of a component: (list . "graph"). */}}
{{- define "concord.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "concord.labels" -}}
{{- $root := index . 0 -}}
{{ include "concord.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{/* Nothing that changes with the chart's version: a pod is replaced for what it runs, not for a label. */}}
{{- define "concord.podLabels" -}}
{{ include "concord.selector" . }}
{{- with (index . 0).Values.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* An image of ours: (list . "graph"). */}}
{{- define "concord.image" -}}
{{- $root := index . 0 }}{{ $service := index . 1 }}{{ $images := $root.Values.images -}}
{{- $name := printf "%s/%s" $images.prefix $service -}}
{{- with get $images.digests $service }}{{ $name }}@{{ . }}
{{- else }}{{ $name }}:{{ get $images.tags $service | default $images.tag | default $root.Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "concord.secret" -}}
{{ .Values.secrets.existing | default (printf "%s-secrets" (include "concord.fullname" .)) }}
{{- end }}

{{- define "concord.tlsSecret" -}}
{{- $root := index . 0 }}{{ $service := index . 1 -}}
{{- if eq $root.Values.tls.mode "existing" }}{{ required (printf "tls.existing.%s names no Secret" $service) (get $root.Values.tls.existing $service) }}
{{- else }}{{ include "concord.fullname" $root }}-{{ $service }}-tls
{{- end }}
{{- end }}

{{- define "concord.neo4jUri" -}}
{{ .Values.neo4j.uri | default (printf "bolt://%s-neo4j:7687" (include "concord.fullname" .)) }}
{{- end }}

{{- define "concord.qdrantUrl" -}}
{{ .Values.qdrant.url | default (printf "http://%s-qdrant:6334" (include "concord.fullname" .)) }}
{{- end }}

{{- define "concord.replicas" -}}
{{- $root := index . 0 -}}
{{ ternary 0 (get $root.Values (index . 1)).replicas (not (empty $root.Values.restore.backup)) }}
{{- end }}
