// Generated from openapi/control-plane.yaml by scripts/generate.mjs. Change the contract, then run "npm run generate".
const codePoints = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

const listSandboxesQuery = validate20;
const schema31 = {"$id":"listSandboxesQuery","type":"object","properties":{"limit":{"default":100,"type":"integer","minimum":1,"maximum":1000},"status":{"$ref":"contract#/$defs/SandboxStatus"},"region":{"type":"string"},"name":{"type":"string"},"metadata":{"type":"string"},"cursor":{"type":"string"}},"required":[]};
const schema33 = {"type":"string","enum":["creating","running","paused","stopped","error","deleted"]};

function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.limit === undefined){
data.limit = 100;
}
let data0 = data.limit;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 1000 || isNaN(data0)){
const err1 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.status !== undefined){
let data1 = data.status;
if(typeof data1 !== "string"){
const err3 = {instancePath:instancePath+"/status",schemaPath:"contract#/$defs/SandboxStatus/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!((((((data1 === "creating") || (data1 === "running")) || (data1 === "paused")) || (data1 === "stopped")) || (data1 === "error")) || (data1 === "deleted"))){
const err4 = {instancePath:instancePath+"/status",schemaPath:"contract#/$defs/SandboxStatus/enum",keyword:"enum",params:{allowedValues: schema33.enum}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.region !== undefined){
if(typeof data.region !== "string"){
const err5 = {instancePath:instancePath+"/region",schemaPath:"#/properties/region/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.name !== undefined){
if(typeof data.name !== "string"){
const err6 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.metadata !== undefined){
if(typeof data.metadata !== "string"){
const err7 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.cursor !== undefined){
if(typeof data.cursor !== "string"){
const err8 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":{"limit":true,"status":true,"region":true,"name":true,"metadata":true,"cursor":true},"dynamicProps":false,"dynamicItems":false};

const createSandboxBody = validate22;
const schema34 = {"$id":"createSandboxBody","$ref":"contract#/$defs/CreateSandboxRequest"};
const schema35 = {"type":"object","properties":{"template_id":{"$ref":"contract#/$defs/TemplateReference"},"template_name":{"type":"string","minLength":1},"region":{"type":"string"},"timeout_seconds":{"type":"integer","minimum":1,"maximum":86400},"internet_access":{"type":"boolean"},"egress":{"$ref":"contract#/$defs/EgressLists"},"limits":{"$ref":"contract#/$defs/SandboxLimits"},"env_vars":{"type":"object","additionalProperties":{"type":"string"}},"vcpu":{"type":"integer"},"memory_mb":{"type":"integer"},"disk_gb":{"type":"integer"},"name":{"type":"string","minLength":1,"maxLength":128},"get_or_create":{"type":"boolean"},"metadata":{"type":"object","maxProperties":64,"additionalProperties":{"type":"string","maxLength":1024}},"min_isolation":{"$ref":"contract#/$defs/Isolation"}},"anyOf":[{"required":["template_id"]},{"required":["template_name"]}]};
const schema36 = {"oneOf":[{"type":"string","minLength":1},{"type":"integer"},{"type":"object","required":["value"],"properties":{"value":{"type":"string","minLength":1}}}]};
const schema37 = {"type":"object","properties":{"allow":{"type":"array","maxItems":256,"items":{"type":"string","minLength":1,"maxLength":300}},"deny":{"type":"array","maxItems":256,"items":{"type":"string","minLength":1,"maxLength":300}}}};
const schema38 = {"type":"object","properties":{"memory_mb":{"type":"integer","minimum":128,"maximum":1048576},"vcpu":{"type":"number","minimum":0.05,"maximum":1024}}};
const schema39 = {"type":"string","enum":["namespace","container","gvisor","microvm"]};
const func1 = codePoints;

function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate23.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs1 = errors;
let valid0 = false;
const _errs2 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.template_id === undefined){
const err0 = {instancePath,schemaPath:"#/anyOf/0/required",keyword:"required",params:{missingProperty: "template_id"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
var _valid0 = _errs2 === errors;
valid0 = valid0 || _valid0;
const _errs3 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.template_name === undefined){
const err1 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: "template_name"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
if(!valid0){
const err2 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs1;
if(vErrors !== null){
if(_errs1){
vErrors.length = _errs1;
}
else {
vErrors = null;
}
}
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.template_id !== undefined){
let data0 = data.template_id;
const _errs6 = errors;
let valid3 = false;
let passing0 = null;
const _errs7 = errors;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err3 = {instancePath:instancePath+"/template_id",schemaPath:"contract#/$defs/TemplateReference/oneOf/0/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/template_id",schemaPath:"contract#/$defs/TemplateReference/oneOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
var _valid1 = _errs7 === errors;
if(_valid1){
valid3 = true;
passing0 = 0;
}
const _errs9 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err5 = {instancePath:instancePath+"/template_id",schemaPath:"contract#/$defs/TemplateReference/oneOf/1/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
var _valid1 = _errs9 === errors;
if(_valid1 && valid3){
valid3 = false;
passing0 = [passing0, 1];
}
else {
if(_valid1){
valid3 = true;
passing0 = 1;
}
const _errs11 = errors;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(data0.value === undefined){
const err6 = {instancePath:instancePath+"/template_id",schemaPath:"contract#/$defs/TemplateReference/oneOf/2/required",keyword:"required",params:{missingProperty: "value"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data0.value !== undefined){
let data1 = data0.value;
if(typeof data1 === "string"){
if(func1(data1) < 1){
const err7 = {instancePath:instancePath+"/template_id/value",schemaPath:"contract#/$defs/TemplateReference/oneOf/2/properties/value/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/template_id/value",schemaPath:"contract#/$defs/TemplateReference/oneOf/2/properties/value/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath:instancePath+"/template_id",schemaPath:"contract#/$defs/TemplateReference/oneOf/2/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
var _valid1 = _errs11 === errors;
if(_valid1 && valid3){
valid3 = false;
passing0 = [passing0, 2];
}
else {
if(_valid1){
valid3 = true;
passing0 = 2;
var props0 = {};
props0.value = true;
}
}
}
if(!valid3){
const err10 = {instancePath:instancePath+"/template_id",schemaPath:"contract#/$defs/TemplateReference/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
else {
errors = _errs6;
if(vErrors !== null){
if(_errs6){
vErrors.length = _errs6;
}
else {
vErrors = null;
}
}
}
}
if(data.template_name !== undefined){
let data2 = data.template_name;
if(typeof data2 === "string"){
if(func1(data2) < 1){
const err11 = {instancePath:instancePath+"/template_name",schemaPath:"#/properties/template_name/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/template_name",schemaPath:"#/properties/template_name/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.region !== undefined){
if(typeof data.region !== "string"){
const err13 = {instancePath:instancePath+"/region",schemaPath:"#/properties/region/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.timeout_seconds !== undefined){
let data4 = data.timeout_seconds;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err14 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"#/properties/timeout_seconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 86400 || isNaN(data4)){
const err15 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"#/properties/timeout_seconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err16 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"#/properties/timeout_seconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
if(data.internet_access !== undefined){
if(typeof data.internet_access !== "boolean"){
const err17 = {instancePath:instancePath+"/internet_access",schemaPath:"#/properties/internet_access/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.egress !== undefined){
let data6 = data.egress;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.allow !== undefined){
let data7 = data6.allow;
if(Array.isArray(data7)){
if(data7.length > 256){
const err18 = {instancePath:instancePath+"/egress/allow",schemaPath:"contract#/$defs/EgressLists/properties/allow/maxItems",keyword:"maxItems",params:{limit: 256}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
if(typeof data8 === "string"){
if(func1(data8) > 300){
const err19 = {instancePath:instancePath+"/egress/allow/" + i0,schemaPath:"contract#/$defs/EgressLists/properties/allow/items/maxLength",keyword:"maxLength",params:{limit: 300}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(func1(data8) < 1){
const err20 = {instancePath:instancePath+"/egress/allow/" + i0,schemaPath:"contract#/$defs/EgressLists/properties/allow/items/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
else {
const err21 = {instancePath:instancePath+"/egress/allow/" + i0,schemaPath:"contract#/$defs/EgressLists/properties/allow/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
else {
const err22 = {instancePath:instancePath+"/egress/allow",schemaPath:"contract#/$defs/EgressLists/properties/allow/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data6.deny !== undefined){
let data9 = data6.deny;
if(Array.isArray(data9)){
if(data9.length > 256){
const err23 = {instancePath:instancePath+"/egress/deny",schemaPath:"contract#/$defs/EgressLists/properties/deny/maxItems",keyword:"maxItems",params:{limit: 256}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
let data10 = data9[i1];
if(typeof data10 === "string"){
if(func1(data10) > 300){
const err24 = {instancePath:instancePath+"/egress/deny/" + i1,schemaPath:"contract#/$defs/EgressLists/properties/deny/items/maxLength",keyword:"maxLength",params:{limit: 300}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(func1(data10) < 1){
const err25 = {instancePath:instancePath+"/egress/deny/" + i1,schemaPath:"contract#/$defs/EgressLists/properties/deny/items/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
else {
const err26 = {instancePath:instancePath+"/egress/deny/" + i1,schemaPath:"contract#/$defs/EgressLists/properties/deny/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
}
else {
const err27 = {instancePath:instancePath+"/egress/deny",schemaPath:"contract#/$defs/EgressLists/properties/deny/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
else {
const err28 = {instancePath:instancePath+"/egress",schemaPath:"contract#/$defs/EgressLists/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data.limits !== undefined){
let data11 = data.limits;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
if(data11.memory_mb !== undefined){
let data12 = data11.memory_mb;
if(!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))){
const err29 = {instancePath:instancePath+"/limits/memory_mb",schemaPath:"contract#/$defs/SandboxLimits/properties/memory_mb/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 > 1048576 || isNaN(data12)){
const err30 = {instancePath:instancePath+"/limits/memory_mb",schemaPath:"contract#/$defs/SandboxLimits/properties/memory_mb/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1048576}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if(data12 < 128 || isNaN(data12)){
const err31 = {instancePath:instancePath+"/limits/memory_mb",schemaPath:"contract#/$defs/SandboxLimits/properties/memory_mb/minimum",keyword:"minimum",params:{comparison: ">=", limit: 128}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
if(data11.vcpu !== undefined){
let data13 = data11.vcpu;
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 1024 || isNaN(data13)){
const err32 = {instancePath:instancePath+"/limits/vcpu",schemaPath:"contract#/$defs/SandboxLimits/properties/vcpu/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1024}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if(data13 < 0.05 || isNaN(data13)){
const err33 = {instancePath:instancePath+"/limits/vcpu",schemaPath:"contract#/$defs/SandboxLimits/properties/vcpu/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0.05}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
else {
const err34 = {instancePath:instancePath+"/limits/vcpu",schemaPath:"contract#/$defs/SandboxLimits/properties/vcpu/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
}
else {
const err35 = {instancePath:instancePath+"/limits",schemaPath:"contract#/$defs/SandboxLimits/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data.env_vars !== undefined){
let data14 = data.env_vars;
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
for(const key0 in data14){
if(typeof data14[key0] !== "string"){
const err36 = {instancePath:instancePath+"/env_vars/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/env_vars/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
}
else {
const err37 = {instancePath:instancePath+"/env_vars",schemaPath:"#/properties/env_vars/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data.vcpu !== undefined){
let data16 = data.vcpu;
if(!(((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16))) && (isFinite(data16)))){
const err38 = {instancePath:instancePath+"/vcpu",schemaPath:"#/properties/vcpu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data.memory_mb !== undefined){
let data17 = data.memory_mb;
if(!(((typeof data17 == "number") && (!(data17 % 1) && !isNaN(data17))) && (isFinite(data17)))){
const err39 = {instancePath:instancePath+"/memory_mb",schemaPath:"#/properties/memory_mb/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
if(data.disk_gb !== undefined){
let data18 = data.disk_gb;
if(!(((typeof data18 == "number") && (!(data18 % 1) && !isNaN(data18))) && (isFinite(data18)))){
const err40 = {instancePath:instancePath+"/disk_gb",schemaPath:"#/properties/disk_gb/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
if(data.name !== undefined){
let data19 = data.name;
if(typeof data19 === "string"){
if(func1(data19) > 128){
const err41 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/maxLength",keyword:"maxLength",params:{limit: 128}};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
if(func1(data19) < 1){
const err42 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
else {
const err43 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
if(data.get_or_create !== undefined){
if(typeof data.get_or_create !== "boolean"){
const err44 = {instancePath:instancePath+"/get_or_create",schemaPath:"#/properties/get_or_create/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data.metadata !== undefined){
let data21 = data.metadata;
if(data21 && typeof data21 == "object" && !Array.isArray(data21)){
if(Object.keys(data21).length > 64){
const err45 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/maxProperties",keyword:"maxProperties",params:{limit: 64}};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
for(const key1 in data21){
let data22 = data21[key1];
if(typeof data22 === "string"){
if(func1(data22) > 1024){
const err46 = {instancePath:instancePath+"/metadata/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/metadata/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 1024}};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
else {
const err47 = {instancePath:instancePath+"/metadata/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/metadata/additionalProperties/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
else {
const err48 = {instancePath:instancePath+"/metadata",schemaPath:"#/properties/metadata/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data.min_isolation !== undefined){
let data23 = data.min_isolation;
if(typeof data23 !== "string"){
const err49 = {instancePath:instancePath+"/min_isolation",schemaPath:"contract#/$defs/Isolation/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
if(!((((data23 === "namespace") || (data23 === "container")) || (data23 === "gvisor")) || (data23 === "microvm"))){
const err50 = {instancePath:instancePath+"/min_isolation",schemaPath:"contract#/$defs/Isolation/enum",keyword:"enum",params:{allowedValues: schema39.enum}};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
}
else {
const err51 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
validate23.errors = vErrors;
return errors === 0;
}
validate23.evaluated = {"props":{"template_id":true,"template_name":true,"region":true,"timeout_seconds":true,"internet_access":true,"egress":true,"limits":true,"env_vars":true,"vcpu":true,"memory_mb":true,"disk_gb":true,"name":true,"get_or_create":true,"metadata":true,"min_isolation":true},"dynamicProps":false,"dynamicItems":false};


function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate22.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate23(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
validate22.errors = vErrors;
return errors === 0;
}
validate22.evaluated = {"props":{"template_id":true,"template_name":true,"region":true,"timeout_seconds":true,"internet_access":true,"egress":true,"limits":true,"env_vars":true,"vcpu":true,"memory_mb":true,"disk_gb":true,"name":true,"get_or_create":true,"metadata":true,"min_isolation":true},"dynamicProps":false,"dynamicItems":false};

const listTemplatesQuery = validate25;
const schema40 = {"$id":"listTemplatesQuery","type":"object","properties":{"category":{"type":"string"},"language":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":1000},"fields":{"type":"string"},"cursor":{"type":"string"}},"required":[]};

function validate25(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate25.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.category !== undefined){
if(typeof data.category !== "string"){
const err0 = {instancePath:instancePath+"/category",schemaPath:"#/properties/category/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.language !== undefined){
if(typeof data.language !== "string"){
const err1 = {instancePath:instancePath+"/language",schemaPath:"#/properties/language/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.limit !== undefined){
let data2 = data.limit;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err2 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 1000 || isNaN(data2)){
const err3 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data2 < 1 || isNaN(data2)){
const err4 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
if(data.fields !== undefined){
if(typeof data.fields !== "string"){
const err5 = {instancePath:instancePath+"/fields",schemaPath:"#/properties/fields/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.cursor !== undefined){
if(typeof data.cursor !== "string"){
const err6 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate25.errors = vErrors;
return errors === 0;
}
validate25.evaluated = {"props":{"category":true,"language":true,"limit":true,"fields":true,"cursor":true},"dynamicProps":false,"dynamicItems":false};

const buildTemplateBody = validate26;
const schema41 = {"$id":"buildTemplateBody","$ref":"contract#/$defs/TemplateBuildRequest"};
const schema42 = {"allOf":[{"$ref":"contract#/$defs/TemplateBuildConfig"},{"type":"object","required":["name","from_image","cpu","memory","diskGB"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128},"cpu":{"type":"integer","minimum":1},"memory":{"type":"integer","minimum":512,"maximum":64000},"diskGB":{"type":"integer","minimum":1,"maximum":250},"skipCache":{"type":["boolean","null"]},"update":{"type":["boolean","null"]},"registry_credentials":{"oneOf":[{"$ref":"contract#/$defs/RegistryCredentials"},{"type":"null"}]},"agent_version":{"type":["string","null"]}}}]};
const schema46 = {"type":"object","properties":{"type":{"type":"string","enum":["basic","github","gitlab","ecr","gcr"]},"username":{"type":"string"},"password":{"type":"string","format":"password"},"token":{"type":"string","format":"password"}}};
const schema43 = {"type":"object","properties":{"from_image":{"type":"string","minLength":1},"steps":{"type":"array","items":{"$ref":"contract#/$defs/TemplateStep"}},"startCmd":{"type":["string","null"]},"readyCmd":{"oneOf":[{"$ref":"contract#/$defs/ReadyCheck"},{"type":"null"}]}}};
const schema44 = {"type":"object","required":["type"],"properties":{"type":{"type":"string","enum":["COPY","RUN","ENV","WORKDIR","USER","CMD","copy","run","env","workdir","user","cmd"]},"args":{"type":["array","null"],"items":{"type":"string"}},"key":{"type":["string","null"]},"value":{"type":["string","null"]},"path":{"type":["string","null"]},"filesHash":{"type":["string","null"]},"owner":{"type":["string","null"]},"permissions":{"type":["string","null"]},"skipCache":{"type":["boolean","null"]}}};
const schema45 = {"type":"object","required":["type"],"properties":{"type":{"type":"string","enum":["port","url","file","process","command"]},"port":{"type":["integer","null"],"minimum":1,"maximum":65535},"url":{"type":["string","null"]},"path":{"type":["string","null"]},"name":{"type":["string","null"]},"processName":{"type":["string","null"]},"command":{"type":["string","null"]},"timeout":{"type":["integer","null"],"minimum":1},"interval":{"type":["integer","null"],"minimum":1}}};

function validate28(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate28.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.from_image !== undefined){
let data0 = data.from_image;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err0 = {instancePath:instancePath+"/from_image",schemaPath:"#/properties/from_image/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath:instancePath+"/from_image",schemaPath:"#/properties/from_image/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.steps !== undefined){
let data1 = data.steps;
if(Array.isArray(data1)){
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.type === undefined){
const err2 = {instancePath:instancePath+"/steps/" + i0,schemaPath:"contract#/$defs/TemplateStep/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data2.type !== undefined){
let data3 = data2.type;
if(typeof data3 !== "string"){
const err3 = {instancePath:instancePath+"/steps/" + i0+"/type",schemaPath:"contract#/$defs/TemplateStep/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!((((((((((((data3 === "COPY") || (data3 === "RUN")) || (data3 === "ENV")) || (data3 === "WORKDIR")) || (data3 === "USER")) || (data3 === "CMD")) || (data3 === "copy")) || (data3 === "run")) || (data3 === "env")) || (data3 === "workdir")) || (data3 === "user")) || (data3 === "cmd"))){
const err4 = {instancePath:instancePath+"/steps/" + i0+"/type",schemaPath:"contract#/$defs/TemplateStep/properties/type/enum",keyword:"enum",params:{allowedValues: schema44.properties.type.enum}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data2.args !== undefined){
let data4 = data2.args;
if((!(Array.isArray(data4))) && (data4 !== null)){
const err5 = {instancePath:instancePath+"/steps/" + i0+"/args",schemaPath:"contract#/$defs/TemplateStep/properties/args/type",keyword:"type",params:{type: schema44.properties.args.type}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(Array.isArray(data4)){
const len1 = data4.length;
for(let i1=0; i1<len1; i1++){
if(typeof data4[i1] !== "string"){
const err6 = {instancePath:instancePath+"/steps/" + i0+"/args/" + i1,schemaPath:"contract#/$defs/TemplateStep/properties/args/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
if(data2.key !== undefined){
let data6 = data2.key;
if((typeof data6 !== "string") && (data6 !== null)){
const err7 = {instancePath:instancePath+"/steps/" + i0+"/key",schemaPath:"contract#/$defs/TemplateStep/properties/key/type",keyword:"type",params:{type: schema44.properties.key.type}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data2.value !== undefined){
let data7 = data2.value;
if((typeof data7 !== "string") && (data7 !== null)){
const err8 = {instancePath:instancePath+"/steps/" + i0+"/value",schemaPath:"contract#/$defs/TemplateStep/properties/value/type",keyword:"type",params:{type: schema44.properties.value.type}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data2.path !== undefined){
let data8 = data2.path;
if((typeof data8 !== "string") && (data8 !== null)){
const err9 = {instancePath:instancePath+"/steps/" + i0+"/path",schemaPath:"contract#/$defs/TemplateStep/properties/path/type",keyword:"type",params:{type: schema44.properties.path.type}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data2.filesHash !== undefined){
let data9 = data2.filesHash;
if((typeof data9 !== "string") && (data9 !== null)){
const err10 = {instancePath:instancePath+"/steps/" + i0+"/filesHash",schemaPath:"contract#/$defs/TemplateStep/properties/filesHash/type",keyword:"type",params:{type: schema44.properties.filesHash.type}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data2.owner !== undefined){
let data10 = data2.owner;
if((typeof data10 !== "string") && (data10 !== null)){
const err11 = {instancePath:instancePath+"/steps/" + i0+"/owner",schemaPath:"contract#/$defs/TemplateStep/properties/owner/type",keyword:"type",params:{type: schema44.properties.owner.type}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data2.permissions !== undefined){
let data11 = data2.permissions;
if((typeof data11 !== "string") && (data11 !== null)){
const err12 = {instancePath:instancePath+"/steps/" + i0+"/permissions",schemaPath:"contract#/$defs/TemplateStep/properties/permissions/type",keyword:"type",params:{type: schema44.properties.permissions.type}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data2.skipCache !== undefined){
let data12 = data2.skipCache;
if((typeof data12 !== "boolean") && (data12 !== null)){
const err13 = {instancePath:instancePath+"/steps/" + i0+"/skipCache",schemaPath:"contract#/$defs/TemplateStep/properties/skipCache/type",keyword:"type",params:{type: schema44.properties.skipCache.type}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath:instancePath+"/steps/" + i0,schemaPath:"contract#/$defs/TemplateStep/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/steps",schemaPath:"#/properties/steps/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.startCmd !== undefined){
let data13 = data.startCmd;
if((typeof data13 !== "string") && (data13 !== null)){
const err16 = {instancePath:instancePath+"/startCmd",schemaPath:"#/properties/startCmd/type",keyword:"type",params:{type: schema43.properties.startCmd.type}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.readyCmd !== undefined){
let data14 = data.readyCmd;
const _errs31 = errors;
let valid7 = false;
let passing0 = null;
const _errs32 = errors;
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
if(data14.type === undefined){
const err17 = {instancePath:instancePath+"/readyCmd",schemaPath:"contract#/$defs/ReadyCheck/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(data14.type !== undefined){
let data15 = data14.type;
if(typeof data15 !== "string"){
const err18 = {instancePath:instancePath+"/readyCmd/type",schemaPath:"contract#/$defs/ReadyCheck/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!(((((data15 === "port") || (data15 === "url")) || (data15 === "file")) || (data15 === "process")) || (data15 === "command"))){
const err19 = {instancePath:instancePath+"/readyCmd/type",schemaPath:"contract#/$defs/ReadyCheck/properties/type/enum",keyword:"enum",params:{allowedValues: schema45.properties.type.enum}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data14.port !== undefined){
let data16 = data14.port;
if((!(((typeof data16 == "number") && (!(data16 % 1) && !isNaN(data16))) && (isFinite(data16)))) && (data16 !== null)){
const err20 = {instancePath:instancePath+"/readyCmd/port",schemaPath:"contract#/$defs/ReadyCheck/properties/port/type",keyword:"type",params:{type: schema45.properties.port.type}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if((typeof data16 == "number") && (isFinite(data16))){
if(data16 > 65535 || isNaN(data16)){
const err21 = {instancePath:instancePath+"/readyCmd/port",schemaPath:"contract#/$defs/ReadyCheck/properties/port/maximum",keyword:"maximum",params:{comparison: "<=", limit: 65535}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(data16 < 1 || isNaN(data16)){
const err22 = {instancePath:instancePath+"/readyCmd/port",schemaPath:"contract#/$defs/ReadyCheck/properties/port/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
if(data14.url !== undefined){
let data17 = data14.url;
if((typeof data17 !== "string") && (data17 !== null)){
const err23 = {instancePath:instancePath+"/readyCmd/url",schemaPath:"contract#/$defs/ReadyCheck/properties/url/type",keyword:"type",params:{type: schema45.properties.url.type}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data14.path !== undefined){
let data18 = data14.path;
if((typeof data18 !== "string") && (data18 !== null)){
const err24 = {instancePath:instancePath+"/readyCmd/path",schemaPath:"contract#/$defs/ReadyCheck/properties/path/type",keyword:"type",params:{type: schema45.properties.path.type}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data14.name !== undefined){
let data19 = data14.name;
if((typeof data19 !== "string") && (data19 !== null)){
const err25 = {instancePath:instancePath+"/readyCmd/name",schemaPath:"contract#/$defs/ReadyCheck/properties/name/type",keyword:"type",params:{type: schema45.properties.name.type}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data14.processName !== undefined){
let data20 = data14.processName;
if((typeof data20 !== "string") && (data20 !== null)){
const err26 = {instancePath:instancePath+"/readyCmd/processName",schemaPath:"contract#/$defs/ReadyCheck/properties/processName/type",keyword:"type",params:{type: schema45.properties.processName.type}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data14.command !== undefined){
let data21 = data14.command;
if((typeof data21 !== "string") && (data21 !== null)){
const err27 = {instancePath:instancePath+"/readyCmd/command",schemaPath:"contract#/$defs/ReadyCheck/properties/command/type",keyword:"type",params:{type: schema45.properties.command.type}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data14.timeout !== undefined){
let data22 = data14.timeout;
if((!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))) && (data22 !== null)){
const err28 = {instancePath:instancePath+"/readyCmd/timeout",schemaPath:"contract#/$defs/ReadyCheck/properties/timeout/type",keyword:"type",params:{type: schema45.properties.timeout.type}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 < 1 || isNaN(data22)){
const err29 = {instancePath:instancePath+"/readyCmd/timeout",schemaPath:"contract#/$defs/ReadyCheck/properties/timeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
if(data14.interval !== undefined){
let data23 = data14.interval;
if((!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))) && (data23 !== null)){
const err30 = {instancePath:instancePath+"/readyCmd/interval",schemaPath:"contract#/$defs/ReadyCheck/properties/interval/type",keyword:"type",params:{type: schema45.properties.interval.type}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
if((typeof data23 == "number") && (isFinite(data23))){
if(data23 < 1 || isNaN(data23)){
const err31 = {instancePath:instancePath+"/readyCmd/interval",schemaPath:"contract#/$defs/ReadyCheck/properties/interval/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
}
else {
const err32 = {instancePath:instancePath+"/readyCmd",schemaPath:"contract#/$defs/ReadyCheck/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
var _valid0 = _errs32 === errors;
if(_valid0){
valid7 = true;
passing0 = 0;
var props0 = {};
props0.type = true;
props0.port = true;
props0.url = true;
props0.path = true;
props0.name = true;
props0.processName = true;
props0.command = true;
props0.timeout = true;
props0.interval = true;
}
const _errs53 = errors;
if(data14 !== null){
const err33 = {instancePath:instancePath+"/readyCmd",schemaPath:"#/properties/readyCmd/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
var _valid0 = _errs53 === errors;
if(_valid0 && valid7){
valid7 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid7 = true;
passing0 = 1;
}
}
if(!valid7){
const err34 = {instancePath:instancePath+"/readyCmd",schemaPath:"#/properties/readyCmd/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
else {
errors = _errs31;
if(vErrors !== null){
if(_errs31){
vErrors.length = _errs31;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err35 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
validate28.errors = vErrors;
return errors === 0;
}
validate28.evaluated = {"props":{"from_image":true,"steps":true,"startCmd":true,"readyCmd":true},"dynamicProps":false,"dynamicItems":false};


function validate27(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate27.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate28(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors);
errors = vErrors.length;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: "name"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.from_image === undefined){
const err1 = {instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: "from_image"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.cpu === undefined){
const err2 = {instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: "cpu"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.memory === undefined){
const err3 = {instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: "memory"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data.diskGB === undefined){
const err4 = {instancePath,schemaPath:"#/allOf/1/required",keyword:"required",params:{missingProperty: "diskGB"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 === "string"){
if(func1(data0) > 128){
const err5 = {instancePath:instancePath+"/name",schemaPath:"#/allOf/1/properties/name/maxLength",keyword:"maxLength",params:{limit: 128}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(func1(data0) < 1){
const err6 = {instancePath:instancePath+"/name",schemaPath:"#/allOf/1/properties/name/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/name",schemaPath:"#/allOf/1/properties/name/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.cpu !== undefined){
let data1 = data.cpu;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err8 = {instancePath:instancePath+"/cpu",schemaPath:"#/allOf/1/properties/cpu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 1 || isNaN(data1)){
const err9 = {instancePath:instancePath+"/cpu",schemaPath:"#/allOf/1/properties/cpu/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
if(data.memory !== undefined){
let data2 = data.memory;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
const err10 = {instancePath:instancePath+"/memory",schemaPath:"#/allOf/1/properties/memory/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 64000 || isNaN(data2)){
const err11 = {instancePath:instancePath+"/memory",schemaPath:"#/allOf/1/properties/memory/maximum",keyword:"maximum",params:{comparison: "<=", limit: 64000}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(data2 < 512 || isNaN(data2)){
const err12 = {instancePath:instancePath+"/memory",schemaPath:"#/allOf/1/properties/memory/minimum",keyword:"minimum",params:{comparison: ">=", limit: 512}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
if(data.diskGB !== undefined){
let data3 = data.diskGB;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err13 = {instancePath:instancePath+"/diskGB",schemaPath:"#/allOf/1/properties/diskGB/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 250 || isNaN(data3)){
const err14 = {instancePath:instancePath+"/diskGB",schemaPath:"#/allOf/1/properties/diskGB/maximum",keyword:"maximum",params:{comparison: "<=", limit: 250}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(data3 < 1 || isNaN(data3)){
const err15 = {instancePath:instancePath+"/diskGB",schemaPath:"#/allOf/1/properties/diskGB/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
if(data.skipCache !== undefined){
let data4 = data.skipCache;
if((typeof data4 !== "boolean") && (data4 !== null)){
const err16 = {instancePath:instancePath+"/skipCache",schemaPath:"#/allOf/1/properties/skipCache/type",keyword:"type",params:{type: schema42.allOf[1].properties.skipCache.type}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.update !== undefined){
let data5 = data.update;
if((typeof data5 !== "boolean") && (data5 !== null)){
const err17 = {instancePath:instancePath+"/update",schemaPath:"#/allOf/1/properties/update/type",keyword:"type",params:{type: schema42.allOf[1].properties.update.type}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.registry_credentials !== undefined){
let data6 = data.registry_credentials;
const _errs16 = errors;
let valid2 = false;
let passing0 = null;
const _errs17 = errors;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(data6.type !== undefined){
let data7 = data6.type;
if(typeof data7 !== "string"){
const err18 = {instancePath:instancePath+"/registry_credentials/type",schemaPath:"contract#/$defs/RegistryCredentials/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!(((((data7 === "basic") || (data7 === "github")) || (data7 === "gitlab")) || (data7 === "ecr")) || (data7 === "gcr"))){
const err19 = {instancePath:instancePath+"/registry_credentials/type",schemaPath:"contract#/$defs/RegistryCredentials/properties/type/enum",keyword:"enum",params:{allowedValues: schema46.properties.type.enum}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data6.username !== undefined){
if(typeof data6.username !== "string"){
const err20 = {instancePath:instancePath+"/registry_credentials/username",schemaPath:"contract#/$defs/RegistryCredentials/properties/username/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data6.password !== undefined){
if(!(typeof data6.password === "string")){
const err21 = {instancePath:instancePath+"/registry_credentials/password",schemaPath:"contract#/$defs/RegistryCredentials/properties/password/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data6.token !== undefined){
if(!(typeof data6.token === "string")){
const err22 = {instancePath:instancePath+"/registry_credentials/token",schemaPath:"contract#/$defs/RegistryCredentials/properties/token/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath:instancePath+"/registry_credentials",schemaPath:"contract#/$defs/RegistryCredentials/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
var _valid0 = _errs17 === errors;
if(_valid0){
valid2 = true;
passing0 = 0;
var props0 = {};
props0.type = true;
props0.username = true;
props0.password = true;
props0.token = true;
}
const _errs28 = errors;
if(data6 !== null){
const err24 = {instancePath:instancePath+"/registry_credentials",schemaPath:"#/allOf/1/properties/registry_credentials/oneOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
var _valid0 = _errs28 === errors;
if(_valid0 && valid2){
valid2 = false;
passing0 = [passing0, 1];
}
else {
if(_valid0){
valid2 = true;
passing0 = 1;
}
}
if(!valid2){
const err25 = {instancePath:instancePath+"/registry_credentials",schemaPath:"#/allOf/1/properties/registry_credentials/oneOf",keyword:"oneOf",params:{passingSchemas: passing0}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
}
if(data.agent_version !== undefined){
let data11 = data.agent_version;
if((typeof data11 !== "string") && (data11 !== null)){
const err26 = {instancePath:instancePath+"/agent_version",schemaPath:"#/allOf/1/properties/agent_version/type",keyword:"type",params:{type: schema42.allOf[1].properties.agent_version.type}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
}
else {
const err27 = {instancePath,schemaPath:"#/allOf/1/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
validate27.errors = vErrors;
return errors === 0;
}
validate27.evaluated = {"props":{"name":true,"cpu":true,"memory":true,"diskGB":true,"skipCache":true,"update":true,"registry_credentials":true,"agent_version":true,"from_image":true,"steps":true,"startCmd":true,"readyCmd":true},"dynamicProps":false,"dynamicItems":false};


function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate26.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(!(validate27(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
validate26.errors = vErrors;
return errors === 0;
}
validate26.evaluated = {"props":{"name":true,"cpu":true,"memory":true,"diskGB":true,"skipCache":true,"update":true,"registry_credentials":true,"agent_version":true,"from_image":true,"steps":true,"startCmd":true,"readyCmd":true},"dynamicProps":false,"dynamicItems":false};

const createUploadLinkBody = validate31;
const schema47 = {"$id":"createUploadLinkBody","$ref":"contract#/$defs/UploadLinkRequest"};
const schema48 = {"type":"object","required":["files_hash","content_length"],"properties":{"files_hash":{"type":"string","minLength":1,"maxLength":128,"pattern":"^[!-~]+$"},"content_length":{"type":"integer","minimum":1}}};
const pattern4 = new RegExp("^[!-~]+$", "u");

function validate31(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate31.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.files_hash === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/UploadLinkRequest/required",keyword:"required",params:{missingProperty: "files_hash"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.content_length === undefined){
const err1 = {instancePath,schemaPath:"contract#/$defs/UploadLinkRequest/required",keyword:"required",params:{missingProperty: "content_length"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.files_hash !== undefined){
let data0 = data.files_hash;
if(typeof data0 === "string"){
if(func1(data0) > 128){
const err2 = {instancePath:instancePath+"/files_hash",schemaPath:"contract#/$defs/UploadLinkRequest/properties/files_hash/maxLength",keyword:"maxLength",params:{limit: 128}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func1(data0) < 1){
const err3 = {instancePath:instancePath+"/files_hash",schemaPath:"contract#/$defs/UploadLinkRequest/properties/files_hash/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(!pattern4.test(data0)){
const err4 = {instancePath:instancePath+"/files_hash",schemaPath:"contract#/$defs/UploadLinkRequest/properties/files_hash/pattern",keyword:"pattern",params:{pattern: "^[!-~]+$"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/files_hash",schemaPath:"contract#/$defs/UploadLinkRequest/properties/files_hash/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.content_length !== undefined){
let data1 = data.content_length;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err6 = {instancePath:instancePath+"/content_length",schemaPath:"contract#/$defs/UploadLinkRequest/properties/content_length/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 1 || isNaN(data1)){
const err7 = {instancePath:instancePath+"/content_length",schemaPath:"contract#/$defs/UploadLinkRequest/properties/content_length/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
}
else {
const err8 = {instancePath,schemaPath:"contract#/$defs/UploadLinkRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate31.errors = vErrors;
return errors === 0;
}
validate31.evaluated = {"props":{"files_hash":true,"content_length":true},"dynamicProps":false,"dynamicItems":false};

const listWebhookDeliveriesQuery = validate32;
const schema49 = {"$id":"listWebhookDeliveriesQuery","type":"object","properties":{"limit":{"default":100,"type":"integer","minimum":1,"maximum":1000},"sandbox_id":{"type":"string"},"status":{"$ref":"contract#/$defs/WebhookDeliveryStatus"},"cursor":{"type":"string"}},"required":[]};
const schema50 = {"type":"string","enum":["waiting","pending","delivered","failed"]};

function validate32(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate32.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.limit === undefined){
data.limit = 100;
}
let data0 = data.limit;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 1000 || isNaN(data0)){
const err1 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.sandbox_id !== undefined){
if(typeof data.sandbox_id !== "string"){
const err3 = {instancePath:instancePath+"/sandbox_id",schemaPath:"#/properties/sandbox_id/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.status !== undefined){
let data2 = data.status;
if(typeof data2 !== "string"){
const err4 = {instancePath:instancePath+"/status",schemaPath:"contract#/$defs/WebhookDeliveryStatus/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!((((data2 === "waiting") || (data2 === "pending")) || (data2 === "delivered")) || (data2 === "failed"))){
const err5 = {instancePath:instancePath+"/status",schemaPath:"contract#/$defs/WebhookDeliveryStatus/enum",keyword:"enum",params:{allowedValues: schema50.enum}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.cursor !== undefined){
if(typeof data.cursor !== "string"){
const err6 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate32.errors = vErrors;
return errors === 0;
}
validate32.evaluated = {"props":{"limit":true,"sandbox_id":true,"status":true,"cursor":true},"dynamicProps":false,"dynamicItems":false};

const setSandboxTimeoutBody = validate33;
const schema51 = {"$id":"setSandboxTimeoutBody","$ref":"contract#/$defs/SetTimeoutRequest"};
const schema52 = {"type":"object","required":["timeout_seconds"],"properties":{"timeout_seconds":{"type":"integer","minimum":1,"maximum":86400}}};

function validate33(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate33.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.timeout_seconds === undefined){
const err0 = {instancePath,schemaPath:"contract#/$defs/SetTimeoutRequest/required",keyword:"required",params:{missingProperty: "timeout_seconds"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.timeout_seconds !== undefined){
let data0 = data.timeout_seconds;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err1 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"contract#/$defs/SetTimeoutRequest/properties/timeout_seconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 86400 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"contract#/$defs/SetTimeoutRequest/properties/timeout_seconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 86400}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/timeout_seconds",schemaPath:"contract#/$defs/SetTimeoutRequest/properties/timeout_seconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
}
else {
const err4 = {instancePath,schemaPath:"contract#/$defs/SetTimeoutRequest/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate33.errors = vErrors;
return errors === 0;
}
validate33.evaluated = {"props":{"timeout_seconds":true},"dynamicProps":false,"dynamicItems":false};

const listSandboxEgressQuery = validate34;
const schema53 = {"$id":"listSandboxEgressQuery","type":"object","properties":{"limit":{"default":100,"type":"integer","minimum":1,"maximum":1000},"cursor":{"type":"string"}},"required":[]};

function validate34(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate34.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.limit === undefined){
data.limit = 100;
}
let data0 = data.limit;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 1000 || isNaN(data0)){
const err1 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0 < 1 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.cursor !== undefined){
if(typeof data.cursor !== "string"){
const err3 = {instancePath:instancePath+"/cursor",schemaPath:"#/properties/cursor/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate34.errors = vErrors;
return errors === 0;
}
validate34.evaluated = {"props":{"limit":true,"cursor":true},"dynamicProps":false,"dynamicItems":false};

const getTemplateBuildLogsQuery = validate35;
const schema54 = {"$id":"getTemplateBuildLogsQuery","type":"object","properties":{"offset":{"default":0,"type":"integer","minimum":0}},"required":[]};

function validate35(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate35.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.offset === undefined){
data.offset = 0;
}
let data0 = data.offset;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err0 = {instancePath:instancePath+"/offset",schemaPath:"#/properties/offset/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 0 || isNaN(data0)){
const err1 = {instancePath:instancePath+"/offset",schemaPath:"#/properties/offset/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate35.errors = vErrors;
return errors === 0;
}
validate35.evaluated = {"props":{"offset":true},"dynamicProps":false,"dynamicItems":false};

const uploadTemplateFilesQuery = validate36;
const schema55 = {"$id":"uploadTemplateFilesQuery","type":"object","properties":{"grant":{"type":"string","minLength":1}},"required":["grant"]};

function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate36.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.grant === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "grant"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.grant !== undefined){
let data0 = data.grant;
if(typeof data0 === "string"){
if(func1(data0) < 1){
const err1 = {instancePath:instancePath+"/grant",schemaPath:"#/properties/grant/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/grant",schemaPath:"#/properties/grant/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate36.errors = vErrors;
return errors === 0;
}
validate36.evaluated = {"props":{"grant":true},"dynamicProps":false,"dynamicItems":false};

export const controlPlaneContract = {
  name: "control-plane",
  operations: [
    { operationId: "getHealth", method: "GET", path: "/health", authenticated: false, status: 200 },
    { operationId: "listSandboxes", method: "GET", path: "/v1/sandboxes", authenticated: true, status: 200, query: { validate: listSandboxesQuery, types: { "limit": "integer", "status": "string", "region": "string", "name": "string", "metadata": "string", "cursor": "string" }, units: {} } },
    { operationId: "createSandbox", method: "POST", path: "/v1/sandboxes", authenticated: true, status: 201, body: { validate: createSandboxBody, required: true, units: { "timeout_seconds": "seconds" } } },
    { operationId: "listTemplates", method: "GET", path: "/v1/templates", authenticated: true, status: 200, query: { validate: listTemplatesQuery, types: { "category": "string", "language": "string", "limit": "integer", "fields": "string", "cursor": "string" }, units: {} } },
    { operationId: "buildTemplate", method: "POST", path: "/v1/templates/build", authenticated: true, status: 201, body: { validate: buildTemplateBody, required: true, units: { "memory": "megabytes", "diskGB": "gigabytes" } } },
    { operationId: "createUploadLink", method: "POST", path: "/v1/templates/files/upload-link", authenticated: true, status: 200, body: { validate: createUploadLinkBody, required: true, units: { "content_length": "bytes" } } },
    { operationId: "listWebhookDeliveries", method: "GET", path: "/v1/webhook-deliveries", authenticated: true, status: 200, query: { validate: listWebhookDeliveriesQuery, types: { "limit": "integer", "sandbox_id": "string", "status": "string", "cursor": "string" }, units: {} } },
    { operationId: "getSandbox", method: "GET", path: "/v1/sandboxes/{id}", authenticated: true, status: 200 },
    { operationId: "deleteSandbox", method: "DELETE", path: "/v1/sandboxes/{id}", authenticated: true, status: 200 },
    { operationId: "pauseSandbox", method: "POST", path: "/v1/sandboxes/{id}/pause", authenticated: true, status: 200 },
    { operationId: "resumeSandbox", method: "POST", path: "/v1/sandboxes/{id}/resume", authenticated: true, status: 200 },
    { operationId: "startSandbox", method: "POST", path: "/v1/sandboxes/{id}/start", authenticated: true, status: 200 },
    { operationId: "stopSandbox", method: "POST", path: "/v1/sandboxes/{id}/stop", authenticated: true, status: 200 },
    { operationId: "setSandboxTimeout", method: "PUT", path: "/v1/sandboxes/{id}/timeout", authenticated: true, status: 200, body: { validate: setSandboxTimeoutBody, required: true, units: { "timeout_seconds": "seconds" } } },
    { operationId: "refreshSandboxToken", method: "POST", path: "/v1/sandboxes/{id}/token/refresh", authenticated: true, status: 200 },
    { operationId: "streamSandboxMetrics", method: "GET", path: "/v1/sandboxes/{id}/metrics/stream", authenticated: true, status: 200 },
    { operationId: "listSandboxEgress", method: "GET", path: "/v1/sandboxes/{id}/egress", authenticated: true, status: 200, query: { validate: listSandboxEgressQuery, types: { "limit": "integer", "cursor": "string" }, units: {} } },
    { operationId: "getTemplate", method: "GET", path: "/v1/templates/{name}", authenticated: true, status: 200 },
    { operationId: "deleteTemplate", method: "DELETE", path: "/v1/templates/{name}", authenticated: true, status: 200 },
    { operationId: "getTemplateBuildStatus", method: "GET", path: "/v1/templates/build/{buildID}/status", authenticated: true, status: 200 },
    { operationId: "getTemplateBuildLogs", method: "GET", path: "/v1/templates/build/{buildID}/logs", authenticated: true, status: 200, query: { validate: getTemplateBuildLogsQuery, types: { "offset": "integer" }, units: {} } },
    { operationId: "uploadTemplateFiles", method: "PUT", path: "/v1/templates/files/{files_hash}", authenticated: false, status: 200, query: { validate: uploadTemplateFilesQuery, types: { "grant": "string" }, units: {} } },
    { operationId: "getWebhookDelivery", method: "GET", path: "/v1/webhook-deliveries/{id}", authenticated: true, status: 200 },
    { operationId: "redeliverWebhook", method: "POST", path: "/v1/webhook-deliveries/{id}/redeliver", authenticated: true, status: 200 },
  ],
};
