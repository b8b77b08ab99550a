{{/* Pods: what a service is given, and what it may do. */}}

{{- define "concord.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "concord.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Where pods run. */}}
{{- define "concord.placing" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
# Not as variables named after other Services: nobody reads these, and Neo4j would take them for settings.
enableServiceLinks: false
automountServiceAccountToken: false
{{- end }}

{{- define "concord.spread" -}}
{{- $root := index . 0 }}{{ $service := index . 1 -}}
{{- with $root.Values.topologySpread }}
topologySpreadConstraints:
{{- range . }}
  - labelSelector:
      matchLabels: {{ include "concord.selector" (list $root $service) | nindent 8 }}
{{ toYaml . | indent 4 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Variables, sorted by name, from a mapping. */}}
{{- define "concord.variables" -}}
{{- range $name, $value := . }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}

{{/* The password of Neo4j as a source of a projected volume. */}}
{{- define "concord.neo4jPassword" -}}
{{- $given := .Values.neo4j.passwordSecret -}}
{{- if and .Values.neo4j.uri $given.name -}}
- secret: {name: {{ $given.name | quote }}, items: [{key: {{ $given.key | quote }}, path: neo4j_password}]}
{{- else -}}
- secret: {name: {{ include "concord.secret" . }}, items: [{key: neo4j_password, path: neo4j_password}]}
{{- end }}
{{- end }}

{{- define "concord.qdrantKey" -}}
{{- $given := .Values.qdrant.apiKeySecret -}}
{{- if and .Values.qdrant.url $given.name -}}
- secret: {name: {{ $given.name | quote }}, items: [{key: {{ $given.key | quote }}, path: qdrant_api_key}]}
{{- else -}}
- secret: {name: {{ include "concord.secret" . }}, items: [{key: qdrant_api_key, path: qdrant_api_key}]}
{{- end }}
{{- end }}

{{/* Settings of the stores for what opens them: graph, governance, and the operator's Jobs. */}}
{{- define "concord.neo4jSettings" -}}
NEO4J_URI: {{ include "concord.neo4jUri" . }}
NEO4J_USER: {{ .Values.neo4j.user }}
NEO4J_PASSWORD_FILE: /run/secrets/neo4j_password
{{- end }}

{{/*
A service's pod. root, service; settings: its wiring by name; keys: items of the Secret by the file that
they become; sources: further ones of the volume of secrets; ready: health's name of what readiness asks;
more: volumes, mounts, initContainers, env as YAML.
*/}}
{{- define "concord.podTemplate" -}}
{{- $root := .root }}{{ $service := .service }}{{ $values := get $root.Values $service -}}
{{- $tls := ne $root.Values.tls.mode "none" -}}
{{- $settings := merge (dict "HEALTH_ADDRESS" "0.0.0.0:7620") .settings -}}
{{- if $tls }}
{{- $settings = merge $settings (dict "SERVICES_TLS_CA" "/run/secrets/services_ca" "SERVICES_TLS_CERT" "/run/secrets/certificate" "SERVICES_TLS_KEY" "/run/secrets/certificate_key") }}
{{- end }}
{{- if $root.Values.monitoring.enabled }}
{{- $settings = merge $settings (dict "METRICS_ADDRESS" "0.0.0.0:9464" "METRICS_PLAIN_TEXT_NETWORK" "true") }}
{{- end }}
{{- range $setting, $_ := $values.secretFiles }}
{{- $settings = merge (dict $setting (printf "/run/secrets/%s" $setting)) $settings }}
{{- end }}
{{- $settings = merge (deepCopy $values.env) $settings }}
metadata:
  labels: {{ include "concord.podLabels" (list $root $service) | nindent 4 }}
  {{- with $values.annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "concord.placing" $root | nindent 2 }}
  {{- include "concord.spread" (list $root $service) | nindent 2 }}
  # More than the 10 seconds that calls under way get, and what is written down after them.
  terminationGracePeriodSeconds: 30
  securityContext: {{ include "concord.podSecurity" $root | nindent 4 }}
  {{- with .initContainers }}
  initContainers: {{ . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ $service }}
      image: {{ include "concord.image" (list $root $service) }}
      imagePullPolicy: {{ $root.Values.images.pullPolicy }}
      securityContext: {{ include "concord.containerSecurity" $root | nindent 8 }}
      env:
        {{- include "concord.variables" $settings | nindent 8 }}
        {{- with .env }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- range $setting, $given := $values.secretEnv }}
        - {name: {{ $setting }}, valueFrom: {secretKeyRef: {name: {{ $given.name | quote }}, key: {{ $given.key | quote }}}}}
        {{- end }}
      ports:
        {{- range $name, $port := .ports }}
        - {name: {{ $name }}, containerPort: {{ $port }}}
        {{- end }}
        - {name: health, containerPort: 7620}
        {{- if $root.Values.monitoring.enabled }}
        - {name: metrics, containerPort: 9464}
        {{- end }}
      # Kubernetes shows no certificate, so it asks where health alone is told, without TLS (decision 0125).
      # "live" is the process itself: what waits for a store is not restarted.
      {{- with $root.Values.probes }}
      startupProbe:
        grpc: {port: 7620, service: live}
        periodSeconds: {{ .periodSeconds }}
        timeoutSeconds: 5
        failureThreshold: {{ max 1 (div (add .startSeconds .periodSeconds -1) .periodSeconds) }}
      readinessProbe:
        grpc: {port: 7620, service: {{ $.ready | quote }}}
        periodSeconds: {{ .periodSeconds }}
        timeoutSeconds: 5
        failureThreshold: 2
      livenessProbe:
        grpc: {port: 7620, service: live}
        periodSeconds: {{ .periodSeconds }}
        timeoutSeconds: 5
        failureThreshold: 6
      {{- end }}
      {{- with $values.resources }}
      resources: {{ toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - {name: secrets, mountPath: /run/secrets, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        {{- with .mounts }}
        {{- . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          - secret:
              name: {{ include "concord.secret" $root }}
              items:
                {{- range $file, $item := .keys }}
                - {key: {{ $item }}, path: {{ $file }}}
                {{- end }}
          {{- with .sources }}
          {{- . | nindent 10 }}
          {{- end }}
          {{- if $tls }}
          - secret:
              name: {{ include "concord.tlsSecret" (list $root $service) }}
              items:
                - {key: ca.crt, path: services_ca}
                - {key: tls.crt, path: certificate}
                - {key: tls.key, path: certificate_key}
          {{- end }}
          {{- range $setting, $given := $values.secretFiles }}
          - secret: {name: {{ $given.name | quote }}, items: [{key: {{ $given.key | quote }}, path: {{ $setting }}}]}
          {{- end }}
    {{- with .volumes }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* A stateless service: as concord.podTemplate. */}}
{{- define "concord.deployment" -}}
{{- $root := .root }}{{ $service := .service }}{{ $values := get $root.Values $service -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "concord.fullname" $root }}-{{ $service }}
  labels: {{ include "concord.labels" (list $root $service) | nindent 4 }}
spec:
  {{- if or (not $values.autoscaling.enabled) $root.Values.restore.backup }}
  replicas: {{ include "concord.replicas" (list $root $service) }}
  {{- end }}
  # Callers look every 2 seconds for a replica that was gone: the next one goes after that.
  minReadySeconds: 3
  strategy:
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  selector:
    matchLabels: {{ include "concord.selector" (list $root $service) | nindent 6 }}
  template: {{ include "concord.podTemplate" . | nindent 4 }}
{{- end }}

{{/* A pod of the operator's image: root, component, command or args; state: whether it has the backups. */}}
{{- define "concord.operatorPod" -}}
{{- $root := .root -}}
metadata:
  labels: {{ include "concord.podLabels" (list $root .component) | nindent 4 }}
spec:
  {{- include "concord.placing" $root | nindent 2 }}
  restartPolicy: {{ .restartPolicy | default "Never" }}
  securityContext: {{ include "concord.podSecurity" $root | nindent 4 }}
  {{- if .state }}
  # Whoever writes a backup takes the keys from a folder of its own, as on one machine.
  initContainers:
    - name: keys
      image: {{ include "concord.image" (list $root "operator") }}
      imagePullPolicy: {{ $root.Values.images.pullPolicy }}
      securityContext: {{ include "concord.containerSecurity" $root | nindent 8 }}
      command:
        - sh
        - -ec
        - |
          install -d -m 700 /state/system /state/system/keys /state/backups
          for file in /keys/*; do install -m 600 "$file" /state/system/keys/; done
          mv /state/system/keys/credentials.json /state/system/
      resources: {{ toYaml $root.Values.backup.resources | nindent 8 }}
      volumeMounts:
        - {name: keys, mountPath: /keys, readOnly: true}
        - {name: state, mountPath: /state}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "concord.image" (list $root "operator") }}
      imagePullPolicy: {{ $root.Values.images.pullPolicy }}
      securityContext: {{ include "concord.containerSecurity" $root | nindent 8 }}
      {{- with .command }}
      command: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with .args }}
      args: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with .env }}
      env: {{ include "concord.variables" . | nindent 8 }}
      {{- end }}
      resources: {{ toYaml $root.Values.backup.resources | nindent 8 }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- with .sources }}
        - {name: secrets, mountPath: /run/secrets, readOnly: true}
        {{- end }}
        {{- if .state }}
        - {name: state, mountPath: /state}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- with .sources }}
    - name: secrets
      projected:
        defaultMode: 0440
        sources: {{ . | nindent 10 }}
    {{- end }}
    {{- if .state }}
    - name: keys
      secret: {secretName: {{ include "concord.secret" $root }}, defaultMode: 0440}
    - name: state
      persistentVolumeClaim:
        claimName: {{ $root.Values.backup.existingClaim | default (printf "%s-backups" (include "concord.fullname" $root)) }}
    {{- end }}
{{- end }}

{{/* A Secret's files are root's, and readable by a group: the gateway takes no such key. */}}

{{- define "concord.gatewayKey" -}}
- name: private-key
  image: {{ include "concord.image" (list . "gateway") }}
  imagePullPolicy: {{ .Values.images.pullPolicy }}
  securityContext: {{ include "concord.containerSecurity" . | nindent 4 }}
  command: [install, -m, "600", /run/secrets/gateway_key, /run/private/gateway_key]
  {{- with .Values.gateway.resources }}
  resources: {{ toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    - {name: secrets, mountPath: /run/secrets, readOnly: true}
    - {name: private, mountPath: /run/private}
{{- end }}

{{- define "concord.secretsHook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
