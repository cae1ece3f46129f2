{{- define "cloud-sandbox.labels" -}}
app.kubernetes.io/name: cloud-sandbox-local
{{- end }}

{{- define "cloud-sandbox.apiKeySecret" -}}
{{- if .Values.apiKey.existingSecret -}}
name: {{ .Values.apiKey.existingSecret | quote }}
key: {{ .Values.apiKey.secretKey | quote }}
{{- else -}}
name: cloud-sandbox-keys
key: api_key
{{- end }}
{{- end }}
